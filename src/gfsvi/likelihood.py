"""How observations scatter around a function's values.

Function values have the layout (output, point); observations y have one entry or row a point.
"""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.predictive import AbstractPredictive
from gfsvi.values import AbstractValues

FunctionValues = Float[Array, "output point"]
PointLogProb = Float[Array, " point"]


class AbstractLikelihood(eqx.Module):
    """p(y | f), one observation a point, independent given the function."""

    @abstractmethod
    def num_outputs(self, y: Array) -> int:
        """How many function outputs these observations need."""

    @abstractmethod
    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        """log p(y | f) at each point."""

    @abstractmethod
    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        """E[log p(y | f)] over the values of the function at each point."""

    @abstractmethod
    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> AbstractPredictive:
        """The distribution of new observations."""

    @abstractmethod
    def gaussian_targets(self, y: Array) -> tuple[FunctionValues, FunctionValues]:
        """Targets and noise variances of the Gaussian regression that stands for this likelihood.

        Choosing a prior by marginal likelihood needs a Gaussian problem; this names the closest.
        """


def expectation_by_quadrature(
    log_prob: Callable[[FunctionValues], Array], values: AbstractValues, num_nodes: int = 20
) -> Array:
    """E[log_prob(f)] where each point's log_prob is a sum over outputs, by Gauss-Hermite nodes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(num_nodes)
    std = jnp.sqrt(values.variance)
    at_nodes = jax.vmap(lambda node: log_prob(values.mean + node * std))(
        jnp.asarray(nodes, std.dtype)
    )
    return jnp.tensordot(jnp.asarray(weights / weights.sum(), at_nodes.dtype), at_nodes, axes=1)


def expectation_by_sampling(
    log_prob: Callable[[FunctionValues], Array],
    values: AbstractValues,
    *,
    key: PRNGKeyArray,
    num_samples: int = 16,
) -> Array:
    """E[log_prob(f)] by draws of the function's values, outputs coupled as they are."""
    return jnp.mean(jax.vmap(log_prob)(values.sample(num_samples, key=key)), axis=0)
