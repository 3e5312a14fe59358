"""Observations that are normal around the function, on their own scale or on a warped one."""

import dataclasses
from collections.abc import Callable

import numpy as np

from gfsvi.serving.noise import Noise, Tails, noise_function_of
from gfsvi.serving.parts import Part, chosen

Values = np.ndarray
"""Values of a function, (output, row)."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclasses.dataclass(frozen=True)
class Prediction:
    """Observations at each row on the user's scale; arrays are (row,) or (row, output)."""

    mean: np.ndarray
    epistemic_std: np.ndarray
    aleatoric_std: np.ndarray
    quantile: Callable[[float], np.ndarray]

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of an observation."""
        return np.hypot(self.epistemic_std, self.aleatoric_std)

    def interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Central interval that contains an observation with probability `level`."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


@dataclasses.dataclass(frozen=True)
class Observations:
    """A likelihood, and the user's scale of the target.

    Args:
        noise: The noise at rows.
        tails: How likely observations are to be far off.
        unwarped: From the scale of the likelihood to that of the model; None if they are one.
        spread: The unit of the user's scale.
        centre: Its origin.
    """

    noise: Noise
    tails: Tails
    unwarped: Callable[[Values], Values] | None
    spread: np.ndarray | float
    centre: np.ndarray | float

    @classmethod
    def of(cls, likelihood: Part, target: Part) -> "Observations":
        """The observations that parts of a model describe."""
        names = ("normal", "warped_normal", "adaptive_normal")
        name = chosen(likelihood, {f"likelihood:{name}": name for name in names})
        unwarped = None if name == "normal" else _inverse(likelihood.warp)
        noise, tails = Noise(_column(likelihood.noise)), Tails()
        if name == "adaptive_normal":
            noise = Noise(noise.level, noise_function_of(likelihood.factor))
            tails = Tails(_column(likelihood.degrees_of_freedom), _column(likelihood.spread))
        target = target.expect("target:numbers")
        return cls(noise, tails, unwarped, target.spread, target.centre)

    def given(self, mean: Values, variance: Values, x: np.ndarray) -> Prediction:
        """Observations at rows where the function is normal with these moments."""
        noise = self.tails.widening * np.broadcast_to(self.noise.at(x), mean.shape)
        variance = self.tails.widening**2 * variance
        scale = np.sqrt(variance + noise**2) / self.tails.inflation
        moments = (mean, variance, noise**2)
        if self.unwarped is not None:
            moments = _moments(self.unwarped, mean, np.sqrt(variance), noise)
        expected, spread, scatter = map(_user_layout, moments)
        return Prediction(
            self.spread * expected + self.centre,
            self.spread * np.sqrt(spread),
            self.spread * np.sqrt(scatter),
            lambda q: self._outward(mean + self.tails.quantile(q) * scale),
        )

    def _outward(self, z: Values) -> np.ndarray:
        y = z if self.unwarped is None else self.unwarped(z)
        return self.spread * _user_layout(y) + self.centre


def _inverse(warp: Part) -> Callable[[Values], Values]:
    """From the scale of a warp to observations, as in `predictives.warp`."""
    return chosen(warp, {"warp:warp": _johnson, "warp:bounded": _bounded, "warp:unwarped": _same})(
        warp
    )


def _same(warp: Part) -> Callable[[Values], Values]:
    return lambda z: z


def _bounded(warp: Part) -> Callable[[Values], Values]:
    inner, ends = _inverse(warp.warp), (_column(warp.least), _column(warp.most))
    return lambda z: np.clip(inner(z), *ends)


def _johnson(warp: Part) -> Callable[[Values], Values]:
    centre, stretch, unit, offset = map(
        _column, (warp.centre, warp.stretch, warp.unit, warp.offset)
    )
    ends = [np.arcsinh((_column(end) - centre) / stretch) for end in (warp.low, warp.high)]

    @np.errstate(over="ignore", invalid="ignore")  # far beyond the ends, as silent as JAX
    def inverse(z: Values) -> Values:
        u = z * unit + offset
        inside = np.clip(u, *ends)
        beyond = np.where(u == inside, 0.0, (u - inside) * np.cosh(inside))
        return centre + stretch * (np.sinh(inside) + beyond)

    return inverse


def _moments(
    unwarped: Callable[[Values], Values], centre: Values, function_std: Values, noise_std: Values
) -> tuple[Values, Values, Values]:
    """Mean, variance of the mean given the function, and mean of the variance given it.

    Sums over 21 x 21 nodes, as in `predictives.warped`.
    """
    weights = _WEIGHTS[:, None, None]
    noise = _NODES[:, None, None] * noise_std
    means, variances = np.empty((2, len(_NODES), *centre.shape))
    for number, node in enumerate(_NODES):
        y = unwarped(centre + node * function_std + noise)
        means[number] = np.sum(weights * y, axis=0)
        variances[number] = np.sum(weights * (y - means[number]) ** 2, axis=0)
    mean = np.sum(weights * means, axis=0)
    return mean, np.sum(weights * (means - mean) ** 2, axis=0), np.sum(weights * variances, axis=0)


def _column(values: np.ndarray | float | tuple[float, ...]) -> np.ndarray:
    return np.reshape(values, (-1, 1))


def _user_layout(values: Values) -> np.ndarray:
    return values[0] if len(values) == 1 else values.T
