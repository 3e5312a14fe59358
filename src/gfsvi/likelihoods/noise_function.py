"""Noise that depends on the input, as a factor on a common noise level."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import Points

BLOCK = 16_384
LARGEST_LOG = 4.0
"""The factor stays between exp(-4) and exp(4)."""


class NoiseFunction(eqx.Module):
    """exp(g(x)), a factor on the noise: g is a smooth function, and zero far from its points.

    Args:
        points: Inputs that g is built from.
        lengthscale: The distance over which g varies, one for each feature.
        coefficients: Heights of a Gaussian bump at each point, one row per output.
    """

    points: Float[Array, "point feature"]
    lengthscale: Float[Array, " feature"]
    coefficients: Float[Array, "output point"]

    def __call__(self, x: Points) -> Float[Array, "output row"]:
        """The factor at each row of `x`."""
        numpy = namespace(x, self.points)
        logs = self._logs(x) if numpy is jnp else _in_blocks(self._logs, np.asarray(x))
        return numpy.exp(numpy.clip(logs, -LARGEST_LOG, LARGEST_LOG))

    def _logs(self, x: Points) -> Float[Array, "output row"]:
        return self.coefficients @ bumps(self.points, x, self.lengthscale)


def _in_blocks(function: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    """Results for many rows, in the memory that some of them take."""
    starts = range(0, max(1, len(x)), BLOCK)
    return np.concatenate([function(x[start : start + BLOCK]) for start in starts], axis=1)


def bumps(
    points: Float[Array, "point feature"], x: Points, lengthscale: Float[Array, " feature"]
) -> Float[Array, "point row"]:
    """exp(-d^2 / 2) between points and rows, d the distance in length scales."""
    numpy = namespace(x, points)
    z, rows = points / lengthscale, numpy.asarray(x, np.float64) / lengthscale
    squared = numpy.sum(z**2, axis=1)[:, None] + numpy.sum(rows**2, axis=1) - 2 * z @ rows.T
    return numpy.exp(-0.5 * numpy.maximum(squared, 0))
