"""What variational methods maximise: expected log-likelihood minus a divergence from the prior."""

from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.model import Model
from gfsvi.steps import Parts


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
