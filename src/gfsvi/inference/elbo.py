"""What variational methods maximise: expected log-likelihood minus a divergence from the prior."""

import dataclasses
from typing import Protocol

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.calibration import AbstractCalibration, fixed_by_prior
from gfsvi.model import Model
from gfsvi.training.history import Fit
from gfsvi.training.loop import maximize
from gfsvi.training.settings import Training
from gfsvi.training.steps import Objective, Parts, Where


class PriorDivergence(Protocol):
    """How far a model's function is from its prior, with parts by name to be recorded."""

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        """`scale` is the number of rows of data per row of the batch."""
        ...


class Elbo(eqx.Module):
    """The evidence lower bound on all rows, estimated from a batch of them."""

    divergence: PriorDivergence

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        divergence_key, likelihood_key = jax.random.split(key)
        log_prob = model.expected_log_prob(batch.x, batch.y, key=likelihood_key)
        expected = scale * batch.total(log_prob)
        divergence, parts = self.divergence(model, batch, scale, key=divergence_key)
        parts = {"expected_log_likelihood": expected, "divergence": divergence, **parts}
        return expected - divergence, parts


def validation_score(model: Model, data: Data) -> Float[Array, ""]:
    """The mean expected log-likelihood of held-out rows, which decides when to stop."""
    return data.mean(model.expected_log_prob(data.x, data.y))


class Variational(Protocol):
    """The fields that every method has that maximises a bound by gradient steps."""

    @property
    def training(self) -> Training: ...
    @property
    def calibration(self) -> AbstractCalibration: ...
    @property
    def fixed(self) -> Where | None: ...


def maximize_elbo(
    method: Variational,
    objective: Objective,
    start: Model,
    prior: Model,
    data: Data,
    *,
    key: PRNGKeyArray,
    validation: Data | None = None,
    fixed_before: Where = fixed_by_prior,
    remedy: str = "Lower the learning rate.",
) -> Fit:
    """Train from `start`, stop early and, where nothing is fixed, set the noise by held-out rows.

    Args:
        method: Its training, calibration and what the user wants fixed.
        objective: What is maximised.
        start: The posterior to begin with.
        prior: The model that is fitted.
        data: The rows to learn from.
        key: Randomness.
        validation: Rows that decide when to stop and set the noise.
        fixed_before: Picks what stays as it is unless the user says otherwise.
        remedy: What to recommend if numbers stop being finite.
    """
    posterior, history = maximize(
        objective,
        start,
        data,
        method.training,
        key=key,
        fixed=fixed_before if method.fixed is None else method.fixed,
        validation=validation,
        score=validation_score,
        remedy=remedy,
    )
    if validation is not None and method.fixed is None:
        posterior = method.calibration(posterior, validation, key=key, prior=prior, data=data)
    return Fit(posterior, history)


def maximize_sampled_elbo(
    method: Variational,
    divergence: PriorDivergence,
    start: BayesianNetwork,
    prior: Model,
    data: Data,
    *,
    num_samples: int,
    key: PRNGKeyArray,
    validation: Data | None = None,
    remedy: str = "Lower the learning rate.",
) -> Fit:
    """`maximize_elbo` for a network known by samples, of which a step draws `num_samples`."""
    few = Model(dataclasses.replace(start, num_samples=num_samples), prior.likelihood)
    fit = maximize_elbo(
        method, Elbo(divergence), few, prior, data, key=key, validation=validation, remedy=remedy
    )
    function = dataclasses.replace(fit.posterior.function, num_samples=start.num_samples)
    return Fit(Model(function, fit.posterior.likelihood), fit.history)
