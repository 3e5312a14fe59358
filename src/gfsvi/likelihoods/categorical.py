"""One of several classes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractLabelLikelihood,
    FunctionValues,
    PointLogProb,
    check_numbers,
)
from gfsvi.likelihoods.expectations import expectation_by_sampling, marginal_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets, dirichlet_targets
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import ResponseDraws, Responses
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.values import AbstractValues


class Categorical(AbstractLabelLikelihood):
    """Labels: y is class c with probability softmax(f)_c; the labels determine how many classes.

    Args:
        num_classes: The number of classes, needed if the training labels may lack the last one.
        num_samples: Draws of the function per expected log-probability; best a power of two.
        pseudo_count: Prior Dirichlet count of each class, for `gaussian_targets`.
    """

    num_classes: int | None = eqx.field(static=True, default=None)
    num_samples: int = eqx.field(static=True, default=64)
    pseudo_count: float = eqx.field(static=True, default=0.01)

    def check(self, y: ArrayLike) -> None:
        labels = np.unique(check_numbers(self, y, single=True))
        if np.any(labels != np.round(labels)) or np.any(labels < 0):
            raise ValueError(
                f"Categorical expects labels 0, 1, 2, ...; got {labels[:5]}. "
                "Encode the classes as whole numbers from 0."
            )
        if self.num_classes is not None and labels[-1] >= self.num_classes:
            raise ValueError(
                f"Categorical expects labels below num_classes = {self.num_classes}; "
                f"got {labels[-1]}. Encode the classes from 0, or raise num_classes."
            )

    def num_outputs(self, y: AnyArray) -> int:
        # With a single class there would be nothing to learn.
        return self.num_classes or max(2, int(np.max(np.asarray(y))) + 1)

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        labels = jnp.asarray(y).astype(int)
        log_probabilities = jax.nn.log_softmax(f, axis=0)
        return jnp.take_along_axis(log_probabilities, labels[None, :], axis=0)[0]

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        return expectation_by_sampling(
            lambda f: self.log_prob(y, f), values, key=key, num_samples=self.num_samples
        )

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> CategoricalPredictive:
        f = marginal_draws(values, num_samples=100, key=key)  # as many as the paper takes
        return CategoricalPredictive(namespace(f).swapaxes(log_softmax(f, axis=1), 1, 2))

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        probabilities = jax.nn.softmax(f, axis=0)
        return probabilities, probabilities * (1 - probabilities)

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        shape = (num_samples, f.shape[1])
        return jax.random.categorical(key, f, axis=0, shape=shape)[:, None, :]

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """Dirichlet targets of the labels, one output per class."""
        num_classes = self.num_outputs(y) if num_outputs is None else num_outputs
        numpy = namespace(y)
        one_hot = numpy.eye(num_classes)[numpy.asarray(y).astype(int)]
        return GaussianTargets(*dirichlet_targets(one_hot.T, self.pseudo_count))


def log_softmax(f: Float[Array, "..."], axis: int) -> Float[Array, "..."]:
    """The logarithm of softmax, in NumPy or in JAX."""
    numpy = namespace(f)
    shifted = f - f.max(axis=axis, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis=axis, keepdims=True))
