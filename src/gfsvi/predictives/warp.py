"""A scale on which observations scatter evenly: logarithmic where they spread, linear elsewhere."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.numerics.constraints import check_positive, positive, real

Parameter = Float[Array, ""] | Float[Array, " output"]
OutputPoint = Float[Array, "output point"]


class Warp(eqx.Module):
    """From y to (arcsinh((y - centre) / stretch) - offset) / unit, Johnson's transformation.

    A large `stretch` changes nothing but the unit, a small one is a logarithm of the distance
    from `centre`. Below `low` and above `high` the scale goes on linearly: an exponential far
    from everything observed would be a bold thing to predict.
    """

    centre: Parameter = real(0.0)
    stretch: Parameter = positive(10.0)
    offset: Parameter = real(0.0)
    unit: Parameter = positive(0.1)
    low: tuple[float, ...] = eqx.field(static=True, default=(-np.inf,))
    high: tuple[float, ...] = eqx.field(static=True, default=(np.inf,))

    def __check_init__(self) -> None:
        check_positive(self, stretch=self.stretch, unit=self.unit)

    @classmethod
    def fitted(cls, y: np.ndarray, stretch: float = 1.0) -> "Warp":
        """A scale around the median on which these observations have mean 0 and spread 1.

        It is linear beyond a tenth of their range outside of it.
        """
        columns = np.asarray(y, np.float64).reshape(len(y), -1)
        centre, spread = np.median(columns, axis=0), np.std(columns, axis=0)
        stretched = stretch * np.where(spread > 0, spread, 1.0)
        u = np.arcsinh((columns - centre) / stretched)
        margin = 0.1 * np.ptp(columns, axis=0)
        low, high = columns.min(axis=0) - margin, columns.max(axis=0) + margin
        unit = np.std(u, axis=0)
        unit = np.where(unit > 0, unit, 1.0)
        return cls(
            centre,
            stretched,
            np.mean(u, axis=0),
            unit,
            tuple(map(float, low)),
            tuple(map(float, high)),
        )

    def forward(self, y: OutputPoint) -> OutputPoint:
        """From observations to the even scale."""
        inside = self._inside(y)
        u = jnp.arcsinh((inside - _column(self.centre)) / _column(self.stretch))
        u = u + (y - inside) / self._spread(inside)
        return (u - _column(self.offset)) / _column(self.unit)

    def inverse(self, z: OutputPoint) -> OutputPoint:
        """From the even scale to observations."""
        u = z * _column(self.unit) + _column(self.offset)
        centre, stretch = _column(self.centre), _column(self.stretch)
        ends = [jnp.arcsinh((_column(end) - centre) / stretch) for end in (self.low, self.high)]
        inside = jnp.clip(u, *ends)
        # d/du [centre + stretch sinh(u)] = stretch cosh(u) beyond the ends
        beyond = jnp.where(u == inside, 0.0, (u - inside) * jnp.cosh(inside))
        return centre + stretch * (jnp.sinh(inside) + beyond)

    def log_slope(self, y: OutputPoint) -> OutputPoint:
        """log of the derivative of `forward`."""
        return -jnp.log(self._spread(self._inside(y))) - jnp.log(_column(self.unit))

    def _inside(self, y: OutputPoint) -> OutputPoint:
        return jnp.clip(y, _column(self.low), _column(self.high))

    def _spread(self, y: OutputPoint) -> OutputPoint:
        # d/dy arcsinh((y - centre) / stretch) = 1 / sqrt(stretch^2 + (y - centre)^2)
        return jnp.hypot(_column(self.stretch), y - _column(self.centre))


def _column(parameter: Parameter | tuple[float, ...]) -> Float[Array, "#output 1"]:
    return jnp.reshape(jnp.asarray(parameter), (-1, 1))
