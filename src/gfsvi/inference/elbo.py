"""What variational methods maximise: expected log-likelihood minus a divergence from the prior."""

from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.inference.calibration import calibrated, settled
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
        """`scale` is rows of data for each row of the batch."""
        ...


class Elbo(eqx.Module):
    """The evidence lower bound on all rows, estimated from a batch of them."""

    divergence: PriorDivergence

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        divergence_key, likelihood_key = jax.random.split(key)
        log_prob = model.expected_log_prob(batch.x, batch.y, key=likelihood_key)
        expected = scale * jnp.sum(log_prob)
        divergence, parts = self.divergence(model, batch, scale, key=divergence_key)
        parts = {"expected_log_likelihood": expected, "divergence": divergence, **parts}
        return expected - divergence, parts


def validation_score(model: Model, data: Data) -> Float[Array, ""]:
    """The mean expected log-likelihood of held-out rows, which decides when to stop."""
    return jnp.mean(model.expected_log_prob(data.x, data.y))


def maximize_elbo(
    objective: Objective,
    start: Model,
    data: Data,
    training: Training,
    *,
    key: PRNGKeyArray,
    validation: Data | None = None,
    calibrate: float | None = 0.0,
    fixed: Where | None = None,
    chosen_before: Where = settled,
    remedy: str = "Lower the learning rate.",
) -> Fit:
    """Train from `start`, stop early and, where nothing is `fixed`, set the noise by held-out rows.

    Args:
        objective: What is maximised.
        start: The posterior to begin with.
        data: The rows to learn from.
        training: Steps, batches, learning rate.
        key: Randomness.
        validation: Rows that decide when to stop and set the noise.
        calibrate: See `gfsvi.inference.calibration.calibrated`; zero leaves the noise as trained.
        fixed: Picks what stays as it is, by the user's wish.
        chosen_before: Picks what stays as it is otherwise.
        remedy: What to say if numbers stop being finite.
    """
    posterior, history = maximize(
        objective,
        start,
        data,
        training,
        key=key,
        fixed=chosen_before if fixed is None else fixed,
        validation=validation,
        score=validation_score,
        remedy=remedy,
    )
    if validation is not None and fixed is None:
        posterior = calibrated(posterior, validation, calibrate, key=key)
    return Fit(posterior, history)
