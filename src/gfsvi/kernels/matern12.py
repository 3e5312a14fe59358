"""The Matern kernel of smoothness 1/2, also called exponential."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.distances import safe_sqrt
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import check_positive, positive


class Matern12(AbstractStationaryKernel):
    """k(r) = variance exp(-r): continuous, nowhere differentiable functions."""

    lengthscale: Float[Array, ""] | Float[Array, " feature"] = positive(1.0)
    variance: Float[Array, ""] = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, lengthscale=self.lengthscale, variance=self.variance)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.exp(-safe_sqrt(squared_distance))
