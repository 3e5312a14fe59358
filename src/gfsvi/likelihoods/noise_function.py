"""Noise that depends on the input, as a factor on a common noise level."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import Points

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
        logs = self.coefficients @ bumps(self.points, x, self.lengthscale)
        return numpy.exp(numpy.clip(logs, -LARGEST_LOG, LARGEST_LOG))


def bumps(
    points: Float[Array, "point feature"], x: Points, lengthscale: Float[Array, " feature"]
) -> Float[Array, "point row"]:
    """exp(-d^2 / 2) between points and rows, d the distance in length scales."""
    numpy = namespace(x, points)
    z, rows = points / lengthscale, numpy.asarray(x, np.float64) / lengthscale
    squared = numpy.sum(z**2, axis=1)[:, None] + numpy.sum(rows**2, axis=1) - 2 * z @ rows.T
    return numpy.exp(-0.5 * numpy.maximum(squared, 0))
