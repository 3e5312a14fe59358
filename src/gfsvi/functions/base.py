"""Random functions: priors and posteriors alike."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.types import Points
from gfsvi.values import AbstractValues


class AbstractRandomFunction(eqx.Module):
    """A distribution over functions, known by its values at points."""

    @abstractmethod
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The function's values at all of `x` together."""

    @abstractmethod
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The function's values at each of `x` alone, which is all a likelihood asks for."""


@runtime_checkable
class SampledFunction(Protocol):
    """A random function of which whole functions can be drawn, to be evaluated anywhere."""

    def sample_function(self, *, key: PRNGKeyArray) -> Callable[[Points], Array]:
        """One function: points to (point, output)."""
        ...


def draw_values(
    function: AbstractRandomFunction, x: Points, num_samples: int, *, key: PRNGKeyArray
) -> Float[Array, "sample output point"]:
    """Values at all of `x` of functions drawn from the distribution."""
    if not isinstance(function, SampledFunction):
        value_key, draw_key = jax.random.split(key)
        return function.at(x, key=value_key).sample(num_samples, key=draw_key)
    keys = jax.random.split(key, num_samples)
    return jax.lax.map(lambda k: jnp.swapaxes(function.sample_function(key=k)(x), 0, 1), keys)


def correlation_lengths(function: AbstractRandomFunction, x: Points) -> Float[Array, " feature"]:
    """How far to go along each feature until the function's values are no longer close.

    The step at which the correlation first falls to exp(-1/2), one length scale of an RBF
    kernel, seen from the middle of `x`; at most a hundred ranges of the feature, and of a
    feature that is constant a hundred.
    """
    rows = np.asarray(x, np.float64)
    ranges = np.ptp(rows, axis=0)
    ranges = np.where(ranges > 1e-9 * np.abs(rows).max(axis=0), ranges, 1.0)
    fractions = np.geomspace(1e-3, 1e2, 51)
    centre = np.median(rows, axis=0)
    steps = np.eye(rows.shape[1])[:, None, :] * (fractions[:, None] * ranges)[None]

    def correlations(along: Array) -> Array:
        cov = function.at(jnp.concatenate([centre[None], centre + along])).cov[0]
        return cov[0, 1:] / jnp.sqrt(cov[0, 0] * jnp.diagonal(cov)[1:])

    below = np.asarray(jax.lax.map(correlations, jnp.asarray(steps))) <= np.exp(-0.5)
    first = np.where(below.any(axis=1), below.argmax(axis=1), len(fractions) - 1)
    return jnp.asarray(fractions[first] * ranges)
