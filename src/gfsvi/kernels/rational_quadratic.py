"""The rational quadratic kernel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.distances import check_scalar
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import check_positive, distance, positive
from gfsvi.numerics.types import Distance, Number


class RationalQuadratic(AbstractStationaryKernel):
    """Smooth functions on many length scales: k(r) = variance (1 + r^2 / (2 mixture))^(-mixture).

    A small `mixture` (often called alpha) mixes length scales widely; a large one gives the RBF.
    """

    lengthscale: Distance = distance(1.0)
    variance: Number = positive(1.0)
    mixture: Number = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, mixture=self.mixture)
        check_scalar(self, mixture=self.mixture)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        # log1p keeps full precision when a large mixture makes the base nearly one.
        return jnp.exp(-self.mixture * jnp.log1p(squared_distance / (2 * self.mixture)))
