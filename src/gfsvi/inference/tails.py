"""Student's t, fitted to rows that are left out."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from gfsvi.likelihoods.adaptive_normal import NO_TAILS

DEGREES_OF_FREEDOM = (2.5, 3.0, 4.0, 6.0, 10.0, 20.0, NO_TAILS)
"""From the heaviest tails on; two or fewer would have no variance."""
DOUBT = 1.0
"""By how much the log density of all rows together may be below the largest."""
NUM_ROUNDS = 8
LEAST_SPREAD, MOST_SPREAD = 0.15, 3.0


class Tails(NamedTuple):
    """Degrees of freedom, and a factor on standard deviations."""

    degrees_of_freedom: float
    spread: float

    def log_densities(self, residuals: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """The log density of residuals whose variances are these if all tails were normal."""
        freedom, scale = self.degrees_of_freedom, self.spread * np.sqrt(variances)
        constant = special.gammaln((freedom + 1) / 2) - special.gammaln(freedom / 2)
        constant -= 0.5 * np.log(freedom * np.pi)
        bent = np.log1p((residuals / scale) ** 2 / freedom)
        return constant - np.log(scale) - (freedom + 1) / 2 * bent


FitTails = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Tails, np.ndarray]]
"""From residuals, their variances and weights to tails, and the log density of each residual."""


def normal_tails(
    residuals: np.ndarray, variances: np.ndarray, weights: np.ndarray
) -> tuple[Tails, np.ndarray]:
    """The tails of a normal distribution, whatever the residuals are."""
    densities = -0.5 * (np.log(2 * np.pi * variances) + residuals**2 / variances)
    return Tails(np.inf, 1.0), densities


def most_probable_tails(
    residuals: np.ndarray,
    variances: np.ndarray,
    weights: np.ndarray,
    least_widening: float = 0.0,
) -> tuple[Tails, np.ndarray]:
    """The tails under which residuals are most probable, and the log density of each.

    Of tails under which they are nearly as probable, the heaviest: a hundred rows hardly tell
    whether one in a hundred is far off, and to be mistaken is cheaper on this side. Standard
    deviations stay at least `least_widening` times what they are.
    """
    squares, found = residuals**2 / variances, []
    for freedom in DEGREES_OF_FREEDOM:
        least = max(LEAST_SPREAD, least_widening * np.sqrt((freedom - 2) / freedom))
        tails = Tails(freedom, _spread(squares, freedom, weights, least))
        found.append((tails, tails.log_densities(residuals, variances)))
    best = max(float(weights @ densities) for _, densities in found)
    return next(pair for pair in found if weights @ pair[1] >= best - DOUBT)


def _spread(squares: np.ndarray, freedom: float, weights: np.ndarray, least: float) -> float:
    """The scale of Student's t by expectation maximisation, begun at a robust one."""
    variance = np.clip(np.median(squares) / 0.455, least**2, MOST_SPREAD**2)
    for _ in range(NUM_ROUNDS):
        units = (freedom + 1) / (freedom + squares / variance)
        variance = np.average(units * squares, weights=weights)
        variance = np.clip(variance, least**2, MOST_SPREAD**2)
    return float(np.sqrt(variance))
