"""The squared-exponential kernel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import distance, positive
from gfsvi.numerics.types import Distance, Number


class RBF(AbstractStationaryKernel):
    """Infinitely smooth functions: k(r) = variance exp(-r^2 / 2)."""

    lengthscale: Distance = distance(1.0)
    variance: Number = positive(1.0)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.exp(-0.5 * squared_distance)
