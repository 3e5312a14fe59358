"""A scale on which observations scatter evenly: logarithmic where they spread, else linear."""

from abc import abstractmethod
from types import ModuleType

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from gfsvi.numerics.constraints import check_positive, positive, real
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.printing import Printed
from gfsvi.numerics.types import PerOutput

OutputPoint = Float[Array, "output point"]


class AbstractWarp(Printed):
    """An increasing map from observations to a scale on which they are normal."""

    @abstractmethod
    def forward(self, y: OutputPoint) -> OutputPoint:
        """From observations to the even scale."""

    @abstractmethod
    def inverse(self, z: OutputPoint) -> OutputPoint:
        """From the even scale to observations."""

    @abstractmethod
    def log_slope(self, y: OutputPoint) -> OutputPoint:
        """log of the derivative of `forward`."""

    @property
    @abstractmethod
    def learned(self) -> "Warp | None":
        """The part whose parameters are learned, if there is one."""

    @abstractmethod
    def with_learned(self, part: "Warp") -> "AbstractWarp":
        """The same with another learned part."""


class Unwarped(AbstractWarp):
    """The scale of the observations themselves."""

    def forward(self, y: OutputPoint) -> OutputPoint:
        return y

    def inverse(self, z: OutputPoint) -> OutputPoint:
        return z

    def log_slope(self, y: OutputPoint) -> OutputPoint:
        return namespace(y).zeros_like(y)

    @property
    def learned(self) -> "Warp | None":
        return None

    def with_learned(self, part: "Warp") -> "Unwarped":
        return self


class Bounded(AbstractWarp):
    """A warp whose observations do not leave an interval: what would, is at its end.

    Counts, amounts and shares cannot be negative, and shares not exceed one. As in Tobin's
    regression, the probability beyond an end is the probability of the end itself.

    Args:
        warp: The warp inside the interval.
        least: The smallest possible observation of each output.
        most: The largest one.
    """

    warp: AbstractWarp
    least: tuple[float, ...] = eqx.field(static=True, default=(-np.inf,))
    most: tuple[float, ...] = eqx.field(static=True, default=(np.inf,))

    def forward(self, y: OutputPoint) -> OutputPoint:
        return self.warp.forward(y)

    def inverse(self, z: OutputPoint) -> OutputPoint:
        y = self.warp.inverse(z)
        return namespace(y).clip(y, _column(self.least), _column(self.most))

    def log_slope(self, y: OutputPoint) -> OutputPoint:
        return self.warp.log_slope(y)

    @property
    def learned(self) -> "Warp | None":
        return self.warp.learned

    def with_learned(self, part: "Warp") -> "Bounded":
        return Bounded(self.warp.with_learned(part), self.least, self.most)


class Warp(AbstractWarp):
    """Johnson's transformation, y to (arcsinh((y - centre) / stretch) - offset) / unit.

    A large `stretch` changes only the unit; a small one takes the logarithm of the distance from
    `centre`. Below `low` and above `high` the scale continues linearly, because exponential growth
    far from all observations would be a poor prediction.
    """

    centre: PerOutput = real(0.0)
    stretch: PerOutput = positive(10.0)
    offset: PerOutput = real(0.0)
    unit: PerOutput = positive(0.1)
    low: tuple[float, ...] = eqx.field(static=True, default=(-np.inf,))
    high: tuple[float, ...] = eqx.field(static=True, default=(np.inf,))

    def __check_init__(self) -> None:
        check_positive(self, stretch=self.stretch, unit=self.unit)

    @classmethod
    def fitted(
        cls, y: np.ndarray, stretch: float = 1.0, *, weights: np.ndarray | None = None
    ) -> "Warp":
        """A scale around the median on which these observations have mean 0 and spread 1.

        It is linear from a tenth of their range beyond their extremes.
        """
        columns = np.asarray(y, np.float64).reshape(len(y), -1)
        centre, (_, spread) = _median(columns, weights), _mean_and_std(columns, weights)
        stretched = stretch * np.where(spread > 0, spread, 1.0)
        u = np.arcsinh((columns - centre) / stretched)
        margin = 0.1 * np.ptp(columns, axis=0)
        low, high = columns.min(axis=0) - margin, columns.max(axis=0) + margin
        offset, unit = _mean_and_std(u, weights)
        unit = np.where(unit > 0, unit, 1.0)
        return cls(
            centre,
            stretched,
            offset,
            unit,
            tuple(map(float, low)),
            tuple(map(float, high)),
        )

    def forward(self, y: OutputPoint) -> OutputPoint:
        numpy = _namespace(self, y)
        inside = _inside(self, y)
        u = numpy.arcsinh((inside - _column(self.centre)) / _column(self.stretch))
        u = u + (y - inside) / _spread(self, inside)
        return (u - _column(self.offset)) / _column(self.unit)

    def inverse(self, z: OutputPoint) -> OutputPoint:
        numpy = _namespace(self, z)
        u = z * _column(self.unit) + _column(self.offset)
        centre, stretch = _column(self.centre), _column(self.stretch)
        ends = [numpy.arcsinh((_column(end) - centre) / stretch) for end in (self.low, self.high)]
        inside = numpy.clip(u, *ends)
        # d/du [centre + stretch sinh(u)] = stretch cosh(u) beyond the ends
        beyond = numpy.where(u == inside, 0.0, (u - inside) * numpy.cosh(inside))
        return centre + stretch * (numpy.sinh(inside) + beyond)

    def log_slope(self, y: OutputPoint) -> OutputPoint:
        log = _namespace(self, y).log
        return -log(_spread(self, _inside(self, y))) - log(_column(self.unit))

    @property
    def learned(self) -> "Warp | None":
        return self

    def with_learned(self, part: "Warp") -> "Warp":
        return part


# Functions, not methods: an Equinox module makes an object for every method that is looked up, and
# these are called for every row that is learned.
def _inside(warp: Warp, y: OutputPoint) -> OutputPoint:
    return _namespace(warp, y).clip(y, _column(warp.low), _column(warp.high))


def _spread(warp: Warp, y: OutputPoint) -> OutputPoint:
    # d/dy arcsinh((y - centre) / stretch) = 1 / sqrt(stretch^2 + (y - centre)^2)
    return _namespace(warp, y).hypot(_column(warp.stretch), y - _column(warp.centre))


def _namespace(warp: Warp, values: OutputPoint) -> ModuleType:
    return namespace(values, warp.centre, warp.stretch, warp.offset, warp.unit)


def _median(columns: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The medians of columns, whose rows count as often as their weights say."""
    if weights is None:
        return np.median(columns, axis=0)
    order = np.argsort(columns, axis=0)
    ordered = np.take_along_axis(columns, order, axis=0)
    below = np.cumsum(weights[order], axis=0)
    half = below[-1] / 2
    lower, upper = np.argmax(below >= half, axis=0), np.argmax(below > half, axis=0)
    which = np.arange(columns.shape[1])
    return (ordered[lower, which] + ordered[upper, which]) / 2


def _mean_and_std(columns: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    mean = np.average(columns, axis=0, weights=weights)
    return mean, np.sqrt(np.average((columns - mean) ** 2, axis=0, weights=weights))


def _column(parameter: PerOutput | tuple[float, ...]) -> Float[Array, "#output 1"]:
    numpy = namespace(parameter)
    return numpy.reshape(numpy.asarray(parameter), (-1, 1))
