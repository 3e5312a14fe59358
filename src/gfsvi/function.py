"""Random functions: priors and posteriors alike."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.values import AbstractValues

Points = Float[Array, "point *feature"]


class AbstractRandomFunction(eqx.Module):
    """A distribution over functions, known by its values at points."""

    @abstractmethod
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The function's values at all of `x` together."""

    @abstractmethod
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The function's values at each of `x` alone, which is all a likelihood asks for."""


def correlation_lengths(function: AbstractRandomFunction, x: Points) -> Float[Array, " feature"]:
    """How far to go along each feature until the function's values are no longer close.

    The step at which the correlation first falls to exp(-1/2), one length scale of an RBF
    kernel, seen from the middle of `x`; at most a hundred ranges of the feature.
    """
    rows = np.asarray(x, np.float64)
    ranges = np.maximum(np.ptp(rows, axis=0), 1e-12)
    fractions = np.geomspace(1e-3, 1e2, 51)
    centre = np.median(rows, axis=0)
    steps = np.eye(rows.shape[1])[:, None, :] * (fractions[:, None] * ranges)[None]

    def correlations(along: Array) -> Array:
        cov = function.at(jnp.concatenate([centre[None], centre + along])).cov[0]
        return cov[0, 1:] / jnp.sqrt(cov[0, 0] * jnp.diagonal(cov)[1:])

    below = np.asarray(jax.lax.map(correlations, jnp.asarray(steps))) <= np.exp(-0.5)
    first = np.where(below.any(axis=1), below.argmax(axis=1), len(fractions) - 1)
    return fractions[first] * ranges
