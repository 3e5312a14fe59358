"""The linear kernel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram
from gfsvi.kernels.distances import aligned_rows, per_feature
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.types import PerFeature, Points


class Linear(AbstractKernel):
    """Straight lines through the origin: k(x, z) = sum_k variance_k x_k z_k."""

    proportional_to = "variance"
    variance: PerFeature = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        scaled_x, scaled_z = self._scaled(x, z)
        return scaled_x @ scaled_z.T

    def gram(self, x: Points) -> Gram:
        return self.cross(x, x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        (scaled,) = self._scaled(x)
        return jnp.sum(scaled**2, axis=1)

    def _scaled(self, *sets: Points) -> list[Float[Array, "point feature"]]:
        # A square root on each side makes the Gram matrix a matrix times its transpose.
        return [x * jnp.sqrt(per_feature(self, "variance", x)) for x in aligned_rows(*sets)]
