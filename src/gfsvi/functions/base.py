"""Random functions, as priors and as posteriors."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.numerics.printing import Printed
from gfsvi.numerics.types import Points
from gfsvi.plain.correlations import correlations_along
from gfsvi.values import AbstractValues, Independent, as_gaussian


class AbstractRandomFunction(Printed):
    """A distribution over functions, known by its values at finitely many points."""

    @abstractmethod
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The joint distribution of the values at all points of `x`."""

    @abstractmethod
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The distribution of the value at each point of `x`, which is all a likelihood needs."""


@runtime_checkable
class SampledFunction(Protocol):
    """A random function from which whole functions can be drawn and evaluated anywhere."""

    def sample_function(self, *, key: PRNGKeyArray) -> Callable[[Points], Array]:
        """Draw one function from points to outputs (point, output)."""
        ...


@runtime_checkable
class NumpyFunction(Protocol):
    """A random function that can be evaluated in NumPy, without compiling anything."""

    def marginals_in_numpy(self, x: np.ndarray) -> Independent | None:
        """The distribution of the value at each point; None if that needs JAX after all."""
        ...


def draw_values(
    function: AbstractRandomFunction, x: Points, num_samples: int, *, key: PRNGKeyArray
) -> Float[Array, "sample output point"]:
    """Draw functions from the distribution and evaluate them at `x`."""
    if not isinstance(function, SampledFunction):
        value_key, draw_key = jax.random.split(key)
        return function.at(x, key=value_key).sample(num_samples, key=draw_key)
    keys = jax.random.split(key, num_samples)
    return jax.lax.map(lambda k: jnp.swapaxes(function.sample_function(key=k)(x), 0, 1), keys)


def correlation_lengths(function: AbstractRandomFunction, x: Points) -> Float[Array, " feature"]:
    """The distance along each feature over which the function's values are correlated.

    The distance from the median of `x` at which the correlation first falls to exp(-1/2), one
    length scale of an RBF kernel; at most 100 times the range of the feature, or 100 for a
    constant feature.
    """
    rows = np.asarray(x, np.float64)
    ranges = np.ptp(rows, axis=0)
    ranges = np.where(ranges > 1e-9 * np.abs(rows).max(axis=0), ranges, 1.0)
    fractions = np.geomspace(1e-3, 1e2, 51)
    centre = np.median(rows, axis=0)
    kernel = getattr(function, "kernel", None)
    in_numpy = None if kernel is None else composed_in_numpy(kernel)
    if in_numpy is None:
        found = _correlations_in_jax(function, centre, fractions, ranges)
    else:
        found = correlations_along(in_numpy, centre, fractions[:, None] * ranges)
    below = found <= np.exp(-0.5)
    first = np.where(below.any(axis=1), below.argmax(axis=1), len(fractions) - 1)
    return jnp.asarray(fractions[first] * ranges)


def _correlations_in_jax(
    function: AbstractRandomFunction, centre: np.ndarray, fractions: np.ndarray, ranges: np.ndarray
) -> np.ndarray:
    """Correlations with the centre at these fractions of the range, one feature after another."""

    def correlations(direction: Array) -> Array:
        along = jnp.asarray(fractions)[:, None] * direction
        cov = as_gaussian(function.at(jnp.concatenate([centre[None], centre + along]))).cov[0]
        return cov[0, 1:] / jnp.sqrt(cov[0, 0] * jnp.diagonal(cov)[1:])

    return np.asarray(jax.lax.map(correlations, jnp.asarray(np.diag(ranges))))
