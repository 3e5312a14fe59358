"""The white-noise kernel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram
from gfsvi.kernels.distances import check_scalar
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.types import Number, Points


class White(AbstractKernel):
    """Independent noise at every point, even at points that coincide."""

    proportional_to = "variance"
    variance: Number = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, variance=self.variance)
        check_scalar(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        return jnp.zeros((len(x), len(z)), jnp.asarray(self.variance).dtype)

    def gram(self, x: Points) -> Gram:
        return jnp.diag(self.diagonal(x))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return jnp.broadcast_to(jnp.asarray(self.variance), x.shape[:1])
