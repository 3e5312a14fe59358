"""Stationary kernels: functions of the distance between two points."""

from abc import abstractmethod

import equinox as eqx
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
from gfsvi.numerics.constraints import check_positive
from gfsvi.numerics.types import Distance, Number, Points


class AbstractStationaryKernel(AbstractKernel):
    """A kernel of the distance between two points, with a length scale per feature.

    A subclass gives the correlation as a function of the squared scaled distance, which must
    have finite derivatives at zero.
    """

    proportional_to = "variance"
    lengthscale: eqx.AbstractVar[Distance]
    variance: eqx.AbstractVar[Number]

    def __check_init__(self) -> None:
        check_positive(self, lengthscale=self.lengthscale, variance=self.variance)
        check_scalar(self, variance=self.variance)

    @abstractmethod
    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        """Correlation as a function of the squared distance in length scales."""

    def cross(self, x: Points, z: Points) -> Gram:
        return self.variance * self.correlation(squared_distances(*self._scaled(x, z)))

    def gram(self, x: Points) -> Gram:
        return self.variance * self.correlation(squared_distances_within(*self._scaled(x)))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return jnp.broadcast_to(jnp.asarray(self.variance), x.shape[:1])

    def _scaled(self, *sets: Points) -> list[Float[Array, "point feature"]]:
        return [x / per_feature(self, "lengthscale", x) for x in centred_rows(*sets)]
