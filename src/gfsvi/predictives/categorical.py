"""The predictive distribution of labels."""

import jax
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.numerics.precision import namespace
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

    def columns(self) -> dict[str, np.ndarray]:
        """The probability of each class, and the entropy."""
        probabilities = np.asarray(self.probabilities)
        classes = {f"p_{number}": column for number, column in enumerate(probabilities.T)}
        return classes | {"entropy": np.asarray(self.entropy)}

    @property
    @returns_numpy
    def probabilities(self) -> ClassProbabilities:
        """Probability of each class: the mean over draws."""
        return namespace(self.log_draws).exp(self._log_probabilities)

    @property
    @returns_numpy
    def std(self) -> ClassProbabilities:
        """Standard deviation of each class's probability, which more data would reduce."""
        return namespace(self.log_draws).exp(self._draws).std(axis=0)

    @property
    @returns_numpy
    def predicted(self) -> Int[Array, " point"]:
        """The most probable class."""
        return self._log_probabilities.argmax(axis=-1)

    @property
    @returns_numpy
    def entropy(self) -> Float[Array, " point"]:
        """Entropy of the mean probabilities, in nats: the total uncertainty about the label."""
        return _entropy(self._log_probabilities)

    @property
    @returns_numpy
    def mutual_information(self) -> Float[Array, " point"]:
        """The part of the entropy due to uncertainty about the function, reducible by data."""
        return _entropy(self._log_probabilities) - _entropy(self._draws).mean(axis=0)

    @returns_numpy
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return _at_labels(self._log_probabilities, y)

    @returns_numpy
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return _at_labels(self._draws.mean(axis=0), y)

    @returns_numpy
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Int[Array, "sample point"]:
        """Draw labels, independently at each point."""
        logits = self._log_probabilities
        return jax.random.categorical(key, logits, shape=(num_samples, len(logits)))

    @property
    def _draws(self) -> Float[Array, "sample point class"]:
        return namespace(self.log_draws).asarray(self.log_draws, np.float64)

    @property
    def _log_probabilities(self) -> ClassProbabilities:
        return _log_mean_exp(self._draws)


def _log_mean_exp(log_draws: Float[Array, "sample point class"]) -> ClassProbabilities:
    numpy = namespace(log_draws)
    largest = numpy.maximum(log_draws.max(axis=0), np.finfo(np.float64).min)  # not -inf
    return largest + numpy.log(numpy.exp(log_draws - largest).mean(axis=0))


def _entropy(log_probabilities: Float[Array, "*batch class"]) -> Float[Array, "*batch"]:
    numpy = namespace(log_probabilities)
    return -(numpy.exp(log_probabilities) * log_probabilities).sum(axis=-1)


def _at_labels(log_probabilities: ClassProbabilities, y: AnyArray) -> Float[Array, " point"]:
    numpy = namespace(log_probabilities, y)
    labels = numpy.reshape(numpy.asarray(y), (-1, 1)).astype(np.int64)
    return numpy.take_along_axis(log_probabilities, labels, axis=-1)[:, 0]
