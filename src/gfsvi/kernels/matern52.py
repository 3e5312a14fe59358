"""The Matern kernel of smoothness 5/2."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.distances import safe_sqrt
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import distance, positive
from gfsvi.numerics.types import Distance, Number


class Matern52(AbstractStationaryKernel):
    """Twice differentiable functions: k(r) = variance (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r."""

    lengthscale: Distance = distance(1.0)
    variance: Number = positive(1.0)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        s = jnp.sqrt(5.0) * safe_sqrt(squared_distance)
        return (1 + s + s**2 / 3) * jnp.exp(-s)
