"""The kernel of integrated Brownian motion."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram
from gfsvi.kernels.distances import aligned_rows, per_feature
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.types import PerFeature, Points


class IntegratedBrownian(AbstractKernel):
    """Functions whose slope wanders: Brownian motion from the origin both ways, integrated.

    Both value and slope are zero at the origin, so that it is added to `Linear`: then a trend goes
    on as it was last, less and less certainly. On the same side of the origin, with m the smaller
    and M the larger of |x_k| and |z_k|, k(x, z) = sum_k variance_k (m^2 M / 2 - m^3 / 6).
    """

    proportional_to = "variance"
    variance: PerFeature = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        x_rows, z_rows = aligned_rows(x, z)
        one, other = x_rows[:, None, :], z_rows[None, :, :]
        near = jnp.minimum(jnp.abs(one), jnp.abs(other))
        far = jnp.maximum(jnp.abs(one), jnp.abs(other))
        unit = jnp.where(one * other > 0, near**2 * (far / 2 - near / 6), 0)
        return jnp.sum(per_feature(self, "variance", x_rows)[None] * unit, axis=-1)

    def gram(self, x: Points) -> Gram:
        return self.cross(x, x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        (rows,) = aligned_rows(x)
        return jnp.sum(per_feature(self, "variance", rows) * jnp.abs(rows) ** 3 / 3, axis=1)
