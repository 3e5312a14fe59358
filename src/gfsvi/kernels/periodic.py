"""The periodic kernel."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram
from gfsvi.kernels.distances import (
    centred_rows,
    check_scalar,
    per_feature,
    squared_distances,
    squared_distances_within,
)
from gfsvi.numerics.constraints import check_positive, distance, positive
from gfsvi.numerics.types import Distance, Number, PerFeature, Points


class Periodic(AbstractKernel):
    """Periodic functions: an RBF between points on circles, one circle per feature.

    k(x, z) = variance exp(-2 sum_k sin^2(pi (x_k - z_k) / period_k) / lengthscale_k^2).
    """

    proportional_to = "variance"
    lengthscale: PerFeature = positive(1.0)
    variance: Number = positive(1.0)
    period: Distance = distance(1.0)

    def __check_init__(self) -> None:
        check_positive(self, lengthscale=self.lengthscale, variance=self.variance)
        check_positive(self, period=self.period)
        check_scalar(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        on_circles = [self._on_circles(rows) for rows in centred_rows(x, z)]
        return self.variance * jnp.exp(-0.5 * squared_distances(*on_circles))

    def gram(self, x: Points) -> Gram:
        (rows,) = centred_rows(x)
        distances = squared_distances_within(self._on_circles(rows))
        return self.variance * jnp.exp(-0.5 * distances)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return jnp.broadcast_to(jnp.asarray(self.variance), x.shape[:1])

    def _on_circles(self, rows: Float[Array, "point feature"]) -> Float[Array, "point circle"]:
        # The squared chord between two angles is 4 sin^2 of half their difference.
        angle = 2 * jnp.pi * rows / per_feature(self, "period", rows)
        radius = 1 / per_feature(self, "lengthscale", rows)
        return jnp.concatenate([radius * jnp.cos(angle), radius * jnp.sin(angle)], axis=1)
