"""The evidence lower bound: expected log-likelihood minus a divergence from the prior."""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple, Protocol

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.calibration import AbstractCalibration, MostProbable, fixed_by_prior
from gfsvi.inference.models import BNNModel
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.training.history import Fit
from gfsvi.training.loop import maximize
from gfsvi.training.settings import Training
from gfsvi.training.steps import Objective, Parts, Where


class PriorDivergence(Protocol):
    """The divergence of a model's function from its prior, with named parts to record."""

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
    """Mean expected log-likelihood of held-out rows, used to decide when to stop."""
    return data.mean(model.expected_log_prob(data.x, data.y))


class Variational(Protocol):
    """The fields of every method that maximises a bound by gradient steps."""

    @property
    def training(self) -> Training: ...
    @property
    def calibration(self) -> AbstractCalibration | None: ...
    @property
    def fixed(self) -> Where | None: ...


def _unchanged(posterior: Model, data: Data) -> Model:
    return posterior


class Plan(NamedTuple):
    """What a variational method does with a model and data.

    Args:
        start: The posterior before training.
        objective: What to maximise.
        remedy: What to recommend if the objective stops being finite.
        fixed_by_default: Picks the parts that stay fixed unless the user says otherwise.
        finish: Turns the trained posterior into the one to return.
    """

    start: Model
    objective: Objective
    remedy: str = "Lower the learning rate."
    fixed_by_default: Where = fixed_by_prior
    finish: Callable[[Model, Data], Model] = _unchanged


def maximize_elbo(
    method: Variational,
    plan: Plan,
    prior: Model,
    data: Data,
    *,
    key: PRNGKeyArray,
    validation: Data | None = None,
) -> Fit:
    """Train by the plan, stop early and, if nothing is fixed, set the noise by held-out rows.

    Args:
        method: Its training, calibration and the parts that the user wants fixed.
        plan: Start and objective.
        prior: The model to fit.
        data: The rows to learn from.
        key: Source of randomness.
        validation: Held-out rows that decide when to stop and set the noise.
    """
    posterior, history = maximize(
        plan.objective,
        plan.start,
        data,
        method.training,
        key=key,
        fixed=plan.fixed_by_default if method.fixed is None else method.fixed,
        validation=validation,
        score=validation_score,
        remedy=plan.remedy,
    )
    if validation is not None and method.fixed is None:
        calibration = MostProbable() if method.calibration is None else method.calibration
        posterior = calibration(posterior, validation, key=key, prior=prior, data=data)
    return Fit(plan.finish(posterior, data), history)


def sampled_plan(
    start: BayesianNetwork,
    likelihood: AbstractLikelihood,
    divergence: PriorDivergence,
    *,
    num_samples: int,
    remedy: str = "Lower the learning rate.",
) -> Plan:
    """The plan for a network known by samples, of which a training step draws `num_samples`."""

    def finish(posterior: BNNModel, data: Data) -> BNNModel:
        return _with_samples(posterior.function, posterior.likelihood, start.num_samples)

    few = _with_samples(start, likelihood, num_samples)
    return Plan(few, Elbo(divergence), remedy, finish=finish)


def _with_samples(
    network: BayesianNetwork, likelihood: AbstractLikelihood, num_samples: int
) -> BNNModel:
    return Model(dataclasses.replace(network, num_samples=num_samples), likelihood)
