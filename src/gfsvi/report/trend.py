"""Trend and seasons of a fit to dates, apart from each other and from everything else.

The prior is a sum of independent functions. Given the values at the measurement points, whose
posterior is known, each of them has the mean K_j(x, Z) K_g^-1 m and the covariance
K_j(x, x) - K_j(x, Z) K_g^-1 (K_g - C) K_g^-1 K_j(Z, x). Data cannot tell the average of a season
over its period from the level of the trend: it counts as part of the trend.
"""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from gfsvi.auto.seasons import part_of_time
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.kernels.base import AbstractKernel, Sum
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.kernels.locally_periodic import LocallyPeriodic
from gfsvi.kernels.matern12 import Matern12
from gfsvi.likelihoods.base import AbstractNoisyLikelihood
from gfsvi.numerics import quantities
from gfsvi.plain.kernels import PlainKernel
from gfsvi.plain.networks import tangents
from gfsvi.plain.posterior import ConjugatePosterior
from gfsvi.report.case import Case, Column
from gfsvi.report.evidence import Effect, Line
from gfsvi.report.predictions import HALF_WIDTH_95

NUM_STEPS, NUM_PHASES = 121, 12
SHARE_AFTER = 0.25
"""How far the trend is drawn after the last date, as a share of all dates."""


class Moments(NamedTuple):
    """Means and standard deviations of a function, (output, row)."""

    mean: np.ndarray
    std: np.ndarray


class Part(NamedTuple):
    """A term of the prior at standardised rows, and the combinations of these that are wanted."""

    kernel: AbstractKernel
    x: np.ndarray
    weights: np.ndarray


@dataclasses.dataclass(frozen=True)
class Decomposition:
    """The posterior of functions whose sum has a known posterior.

    Args:
        posterior: The posterior of the sum.
    """

    posterior: ConjugatePosterior

    def of(self, *parts: Part) -> Moments:
        """The sum of these parts of the function."""
        kernels = [_plain(part.kernel) for part in parts]
        points = self.posterior.points
        pairs = list(zip(kernels, parts, strict=True))
        cross = sum(kernel.cross(points, part.x) @ part.weights.T for kernel, part in pairs)
        own = sum(
            np.einsum("ij,jk,ik->i", part.weights, kernel.gram(part.x), part.weights, optimize=True)
            for kernel, part in pairs
        )
        explained = self.posterior.whitener @ cross
        onto = explained.T @ self.posterior.whitener
        mean, root = self._at_points()
        left = own - np.sum(explained**2, axis=0)
        variance = np.maximum(left + np.sum((onto @ root) ** 2, axis=-1), 0)
        return Moments(mean @ onto.T, np.sqrt(variance))

    def _at_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Means at the points, and roots of the covariances there."""
        function = self.posterior
        layers = function.network.linearized(function.points)[1]
        # W is the identity at the points, so that the root of C is (T + eps I) times the kept one.
        gram = tangents(function.variances, layers, layers)
        gram = gram + function.eps[:, None, None] * np.eye(len(function.points))
        return function.marginals(function.points)[0], gram @ function.root


def trend_and_seasons(case: Case) -> tuple[tuple[Effect, ...], ...]:
    """Trend and seasons for each output, on the user's scale; none if the prior has none."""
    kernel = getattr(case.fitted.prior.function, "kernel", None)
    part = None if kernel is None else part_of_time(kernel)
    if part is None or not isinstance(part.kernel, Sum):
        return ()
    function, likelihood = case.fitted.posterior.function, case.fitted.posterior.likelihood
    whole = function.in_numpy if isinstance(function, ConjugateNetwork) else None
    if whole is None or not isinstance(likelihood, AbstractNoisyLikelihood):
        return ()
    (place,) = part.columns
    column = next(column for column in case.columns if place in column.features)
    smooth = [t for t in part.kernel.terms if not isinstance(t, LocallyPeriodic | Matern12)]
    seasons = [t for t in part.kernel.terms if isinstance(t, LocallyPeriodic)]
    drawing = _Drawing(case, Decomposition(whole), place, column)
    effects = [drawing.trend(Sum(tuple(smooth)), seasons), *map(drawing.season, seasons)]
    return tuple(zip(*effects, strict=True))


@dataclasses.dataclass(frozen=True)
class _Drawing:
    case: Case
    parts: Decomposition
    place: int
    column: Column

    def trend(self, smooth: AbstractKernel, seasons: list[LocallyPeriodic]) -> list[Effect]:
        """The trend, and its continuation, with other columns at their average."""
        first, last = self._ends
        days = np.linspace(first, last + SHARE_AFTER * (last - first), NUM_STEPS)
        values = self.parts.of(*self._level(smooth, seasons, days))
        known = np.linspace(first, last, NUM_STEPS)
        # What is left on average: the other columns, and disturbances.
        rest = self._average() - np.mean(
            self.parts.of(*self._level(smooth, seasons, known)).mean, axis=1, keepdims=True
        )
        lines = [self._on_user_scale(rest + m) for m in _with_ends(values)]
        return self._effects("Trend", days, *lines)

    def season(self, season: LocallyPeriodic) -> list[Effect]:
        """What a season adds to the latest trend, over its last period."""
        length, (_, last) = self._days_of(season), self._ends
        days = np.linspace(last - length, last, NUM_STEPS)
        centred = np.eye(NUM_STEPS) - 1 / NUM_STEPS
        values = self.parts.of(Part(season.on(self.place), self._rows(days), centred))
        level = self.parts.posterior.marginals(self._rows(np.array([last])))[0]
        base = self._on_user_scale(level)
        lines = [self._on_user_scale(level + m) - base for m in _with_ends(values)]
        return self._effects(f"Season of {quantities.time_text(length)}", days, *lines)

    def _level(
        self, smooth: AbstractKernel, seasons: list[LocallyPeriodic], days: np.ndarray
    ) -> list[Part]:
        """The trend at these days, and the average of each season over the period around them."""
        parts = [Part(smooth.on(self.place), self._rows(days), np.eye(len(days)))]
        average = np.kron(np.eye(len(days)), np.full((1, NUM_PHASES), 1 / NUM_PHASES))
        for season in seasons:
            phases = self._days_of(season) * ((np.arange(NUM_PHASES) + 0.5) / NUM_PHASES - 0.5)
            around = np.ravel(days[:, None] + phases)
            parts.append(Part(season.on(self.place), self._rows(around), average))
        return parts

    def _days_of(self, season: LocallyPeriodic) -> float:
        spread = float(np.asarray(self.case.fitted.input_spread)[self.place])
        return float(np.reshape(season.period, ())) * spread

    def _effects(
        self, title: str, days: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> list[Effect]:
        known = self.case.x[self.case.learned, self.place]
        deciles = np.quantile(known, np.arange(0.1, 1, 0.1))
        deciles = deciles[(deciles >= days[0]) & (deciles <= days[-1])]
        return [
            Effect(title, days, None, deciles, (Line("", *line),), self.column.first_day)
            for line in zip(mean, low, high, strict=True)
        ]

    @property
    def _ends(self) -> tuple[float, float]:
        known = self.case.x[self.case.learned, self.place]
        return float(np.min(known)), float(np.max(known))

    def _rows(self, days: np.ndarray) -> np.ndarray:
        """Standardised rows at these days; kernels of time see no other feature."""
        x = np.tile(np.median(self.case.x, axis=0), (len(days), 1))
        x[:, self.place] = days
        return self.case.fitted.standardized(x)

    def _average(self) -> np.ndarray:
        """The average of the function over the training rows, (output, 1)."""
        rows = self.case.fitted.standardized(self.case.x[self.case.learned])
        return np.mean(self.parts.posterior.marginals(rows)[0], axis=1, keepdims=True)

    def _on_user_scale(self, values: np.ndarray) -> np.ndarray:
        """Values (output, row) of the function as the target has them."""
        target: Any = self.case.fitted.target
        warp = getattr(self.case.fitted.posterior.likelihood, "warp", None)
        y = values if warp is None else np.asarray(warp.inverse(values))
        return y * np.reshape(target.spread, (-1, 1)) + np.reshape(target.centre, (-1, 1))


def _with_ends(moments: Moments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    width = HALF_WIDTH_95 * moments.std
    return moments.mean, moments.mean - width, moments.mean + width


def _plain(kernel: AbstractKernel) -> PlainKernel:
    found = kernel_in_numpy(kernel)
    if found is None:
        raise ValueError(f"expected a kernel that NumPy can evaluate; got {kernel}.")
    return found
