"""The Matern kernel of smoothness 1/2, also called exponential."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.distances import safe_sqrt
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import distance, positive
from gfsvi.numerics.types import Distance, Number


class Matern12(AbstractStationaryKernel):
    """Rough functions, continuous but nowhere differentiable: k(r) = variance exp(-r)."""

    lengthscale: Distance = distance(1.0)
    variance: Number = positive(1.0)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.exp(-safe_sqrt(squared_distance))
