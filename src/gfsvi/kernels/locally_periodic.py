"""The locally periodic kernel."""

from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram
from gfsvi.kernels.distances import check_scalar
from gfsvi.kernels.periodic import Periodic
from gfsvi.kernels.rbf import RBF
from gfsvi.numerics.constraints import check_positive, distance, positive
from gfsvi.numerics.types import Distance, Number, PerFeature, Points


class LocallyPeriodic(AbstractKernel):
    """Periodic functions whose shape drifts: an RBF times a periodic kernel.

    `lengthscale` is the distance over which the shape persists, `periodic_lengthscale` the
    length scale within a period.
    """

    proportional_to = "variance"
    lengthscale: Distance = distance(1.0)
    variance: Number = positive(1.0)
    period: Distance = distance(1.0)
    periodic_lengthscale: PerFeature = positive(1.0)

    def __check_init__(self) -> None:
        check_positive(self, lengthscale=self.lengthscale, variance=self.variance)
        check_positive(self, period=self.period, periodic_lengthscale=self.periodic_lengthscale)
        check_scalar(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        return self._product().cross(x, z)

    def gram(self, x: Points) -> Gram:
        return self._product().gram(x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self._product().diagonal(x)

    def _product(self) -> AbstractKernel:
        drift = RBF(self.lengthscale, self.variance)
        return drift * Periodic(self.periodic_lengthscale, period=self.period)
