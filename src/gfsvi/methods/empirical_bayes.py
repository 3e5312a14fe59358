"""Empirical Bayes: kernel parameters, noise and kernel family by marginal likelihood."""

import dataclasses
import math
from typing import ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.evidence import log_marginal_likelihood, perturbed
from gfsvi.inference.models import GPModel, K
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods.base import has_noise
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit
from gfsvi.training.loop import maximize
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training
from gfsvi.training.steps import Where

NUM_LAST_STEPS = 25


class EmpiricalBayes(AbstractMethod[GaussianProcess]):
    """Maximise the log marginal likelihood of mini-batches (Chen et al. 2021).

    Likelihoods other than the normal one are approximated by their `gaussian_targets`: for
    classes, the Dirichlet transform of the labels (Milios et al. 2018). Where there is noise to
    learn, each distinct row counts once, whatever its weight: copies would make the noise look
    smaller than it is.

    Args:
        kernels: Kernel families to choose from, in addition to the model's own.
        num_starts: Number of starts per kernel family.
        num_rounds: Number of rounds the steps are divided into; after the first round only the
            best start continues.
        training: Steps, batches and learning rate.
        last: Final steps with larger batches, if there are more rows: the denser the rows, the
            better quick variation can be told from noise.
        fixed: Picks the parts of the model that stay fixed.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    kernels: tuple[AbstractKernel, ...] = ()
    num_starts: int = eqx.field(static=True, default=2)
    num_rounds: int = eqx.field(static=True, default=1)
    training: Training = eqx.field(
        static=True, default=Training(num_steps=150, optimizer=Adam(0.1, batch_size=400))
    )
    last: Training | None = eqx.field(
        static=True, default=Training(num_steps=25, optimizer=Adam(0.05, batch_size=1500))
    )
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: GPModel[K], data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit[GPModel[K]]:
        self.check_prior(model)
        model.likelihood.check(np.asarray(data.y))
        prior = model.function
        if has_noise(model.likelihood):  # which duplicate rows would shrink
            data = data.without_copies()
        runs = []
        # Every family sees the same rows at the same steps, so that they can be compared.
        starts = [jax.random.split(k) for k in jax.random.split(key, self.num_starts)]
        for kernel in (prior.kernel, *self.kernels):
            family = Model(dataclasses.replace(prior, kernel=kernel), model.likelihood)
            for number, (start_key, train_key) in enumerate(starts):
                first = family if number == 0 else perturbed(family, key=start_key)
                runs.append((first, data, train_key, self._numbered_training()))
        # Sequentially: in parallel, XLA's few threads can deadlock.
        fits = [self._fit(*run) for run in runs]
        best = int(np.argmax([self._quality(fit, len(data)) for fit in fits]))
        fit, (_, _, train_key, _) = fits[best], runs[best]
        for round_key in jax.random.split(train_key, self.num_rounds - 1):
            fit = self._fit(fit.posterior, data, round_key, self._numbered_training())
        if self.last is not None and len(data) > self.training.optimizer.rows_per_step(len(data)):
            fit = self._fit(fit.posterior, data, train_key, self.last)
        return fit

    def _numbered_training(self) -> Training:
        """The training of the next run, whose checkpoint depends only on the order of runs."""
        num_steps = -(-self.training.num_steps // self.num_rounds)
        training = dataclasses.replace(self.training, num_steps=num_steps)
        if training.checkpoint is None:
            return training
        checkpoint = training.checkpoint()
        return dataclasses.replace(training, checkpoint=lambda: checkpoint)

    @double
    def _fit(
        self, model: GPModel, data: Data, key: PRNGKeyArray, training: Training
    ) -> Fit[GPModel]:
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

    def _quality(self, fit: Fit, num_rows: int) -> float:
        """Mean log marginal likelihood per row over the last steps, which barely change."""
        whole = self.training.optimizer.rows_per_step(num_rows) >= num_rows
        count = 1 if whole else NUM_LAST_STEPS
        value = float(np.mean(fit.history.steps["objective"][-count:]))
        return value if math.isfinite(value) else -math.inf
