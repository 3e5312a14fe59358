"""The rational quadratic kernel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.distances import check_scalar
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import check_positive, positive


class RationalQuadratic(AbstractStationaryKernel):
    """k(r) = variance (1 + r^2 / (2 mixture))^(-mixture): smooth functions of many length scales.

    A small `mixture` (often called alpha) mixes length scales widely; a large one gives the RBF.
    """

    lengthscale: Float[Array, ""] | Float[Array, " feature"] = positive(1.0)
    variance: Float[Array, ""] = positive(1.0)
    mixture: Float[Array, ""] = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, lengthscale=self.lengthscale, variance=self.variance)
        check_positive(self, mixture=self.mixture)
        check_scalar(self, mixture=self.mixture)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        # The logarithm keeps all digits where a large mixture makes the base nearly one.
        return jnp.exp(-self.mixture * jnp.log1p(squared_distance / (2 * self.mixture)))
