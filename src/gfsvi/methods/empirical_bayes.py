"""Choosing the prior: kernel parameters, noise and kernel family by marginal likelihood."""

import dataclasses
import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.function import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernel import AbstractKernel
from gfsvi.marginal_likelihood import log_marginal_likelihood, perturbed
from gfsvi.method import AbstractMethod
from gfsvi.model import Model
from gfsvi.precision import double
from gfsvi.steps import Where
from gfsvi.training import Fit, Training, maximize


class EmpiricalBayes(AbstractMethod):
    """Maximise the log marginal likelihood of mini-batches (Chen et al. 2021).

    Likelihoods other than the normal one are stood for by their `gaussian_targets`: for classes,
    the Dirichlet transform of labels (Milios et al. 2018).

    Args:
        kernels: Further kernel families to choose from, besides the model's own.
        num_starts: How often to start for each family.
        training: Steps, batches, learning rate.
        fixed: Picks the parts of the model that stay as they are.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    kernels: tuple[AbstractKernel, ...] = ()
    num_starts: int = eqx.field(static=True, default=2)
    training: Training = eqx.field(
        static=True, default=Training(num_steps=150, batch_size=400, learning_rate=0.1)
    )
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        model.likelihood.check(np.asarray(data.y))
        prior = model.function
        runs = []
        for kernel in (prior.kernel, *self.kernels):
            family = Model(dataclasses.replace(prior, kernel=kernel), model.likelihood)
            for start in range(self.num_starts):
                key, start_key, train_key = jax.random.split(key, 3)
                first = family if start == 0 else perturbed(family, key=start_key)
                runs.append((first, data, train_key, self._numbered_training()))
        # Side by side: half of the time goes to compiling, which takes one core at a time.
        with ThreadPoolExecutor(max_workers=min(len(runs), os.cpu_count() or 1)) as pool:
            fits = list(pool.map(lambda run: self._fit(*run), runs))
        if len(fits) == 1:
            return fits[0]
        quality = [self._quality(fit, data, key) for fit in fits]
        return fits[int(np.argmax(quality))]

    def _numbered_training(self) -> Training:
        """The training of the next run, whose place in a checkpoint depends on the order alone."""
        if self.training.checkpoint is None:
            return self.training
        checkpoint = self.training.checkpoint()
        return dataclasses.replace(self.training, checkpoint=lambda: checkpoint)

    @double
    def _fit(self, model: Model, data: Data, key: PRNGKeyArray, training: Training) -> Fit:
        posterior, history = maximize(
            log_marginal_likelihood,
            model,
            data,
            training,
            key=key,
            fixed=self.fixed,
            remedy="Standardise the data, or start from larger noise.",
        )
        return Fit(posterior, history)

    def _quality(self, fit: Fit, data: Data, key: PRNGKeyArray) -> float:
        """Mean log marginal likelihood a row, on batches that are the same for every model."""
        model, size = fit.posterior, min(self.training.batch_size, len(data))
        if size == len(data):  # the last step has just measured it
            return float(fit.history.steps["objective"][-1])
        num_batches = min(8, math.ceil(len(data) / size))
        order = np.asarray(jax.random.permutation(jax.random.key(0), len(data)))
        rows = [order[i * size : (i + 1) * size] for i in range(num_batches)]
        evaluate = eqx.filter_jit(log_marginal_likelihood)
        values = [evaluate(model, data.take(r), 1.0, key=key)[0] / len(r) for r in rows]
        value = float(np.mean(np.array(values)))
        return value if math.isfinite(value) else -math.inf
