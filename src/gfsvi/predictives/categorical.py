"""The predictive distribution of labels."""

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import AbstractPredictive, returns_numpy

ClassProbabilities = Float[Array, "point class"]


class CategoricalPredictive(AbstractPredictive):
    """Equally likely draws of the class probabilities at each point.

    Draws are stored as logarithms, so that nearly impossible classes have finite log-probability.
    """

    log_draws: Float[Array, "sample point class"]

    def head(self, num_points: int) -> "CategoricalPredictive":
        return CategoricalPredictive(self.log_draws[:, :num_points])

    @property
    @returns_numpy
    def probabilities(self) -> ClassProbabilities:
        """Probability of each class: the mean over draws."""
        return jnp.exp(self._log_probabilities)

    @property
    @returns_numpy
    def std(self) -> ClassProbabilities:
        """Standard deviation of each class's probability, which more data would reduce."""
        return jnp.std(jnp.exp(self._draws), axis=0)

    @property
    @returns_numpy
    def predicted(self) -> Int[Array, " point"]:
        """The most probable class."""
        return jnp.argmax(self._log_probabilities, axis=-1)

    @property
    @returns_numpy
    def entropy(self) -> Float[Array, " point"]:
        """Entropy of the mean probabilities, in nats: the total uncertainty about the label."""
        return _entropy(self._log_probabilities)

    @property
    @returns_numpy
    def mutual_information(self) -> Float[Array, " point"]:
        """The part of the entropy due to uncertainty about the function, reducible by data."""
        return _entropy(self._log_probabilities) - jnp.mean(_entropy(self._draws), axis=0)

    @returns_numpy
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return _at_labels(self._log_probabilities, y)

    @returns_numpy
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return _at_labels(jnp.mean(self._draws, axis=0), y)

    @returns_numpy
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Int[Array, "sample point"]:
        """Draw labels, independently at each point."""
        logits = self._log_probabilities
        return jax.random.categorical(key, logits, shape=(num_samples, len(logits)))

    @property
    def _draws(self) -> Float[Array, "sample point class"]:
        return jnp.asarray(self.log_draws, jnp.float64)

    @property
    def _log_probabilities(self) -> ClassProbabilities:
        return _log_mean_exp(self._draws)


@jax.jit
def _log_mean_exp(log_draws: Float[Array, "sample point class"]) -> ClassProbabilities:
    return logsumexp(log_draws, axis=0) - jnp.log(len(log_draws))


@jax.jit
def _entropy(log_probabilities: Float[Array, "*batch class"]) -> Float[Array, "*batch"]:
    return -jnp.sum(jnp.exp(log_probabilities) * log_probabilities, axis=-1)


def _at_labels(log_probabilities: ClassProbabilities, y: AnyArray) -> Float[Array, " point"]:
    labels = jnp.reshape(jnp.asarray(y), (-1, 1)).astype(jnp.int64)
    return jnp.take_along_axis(log_probabilities, labels, axis=-1)[:, 0]
