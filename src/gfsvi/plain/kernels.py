"""Stationary kernels in NumPy."""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Correlation(NamedTuple):
    """A correlation as a function of the squared distance in length scales, and its derivative."""

    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]


def _rbf(squared: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * squared)


def _matern32(squared: np.ndarray) -> np.ndarray:
    s = np.sqrt(3 * squared)
    return (1 + s) * np.exp(-s)


def _matern52(squared: np.ndarray) -> np.ndarray:
    s = np.sqrt(5 * squared)
    return (1 + s + s**2 / 3) * np.exp(-s)


def _slope_of_matern12(squared: np.ndarray) -> np.ndarray:
    r = np.sqrt(squared)
    # Zero where points coincide: there, the distance does not depend on the length scale.
    return np.where(r > 0, -0.5 * np.exp(-r) / np.where(r > 0, r, 1), 0)


def _slope_of_matern52(squared: np.ndarray) -> np.ndarray:
    s = np.sqrt(5 * squared)
    return -5 / 6 * (1 + s) * np.exp(-s)


CORRELATIONS = {
    "rbf": Correlation(_rbf, lambda squared: -0.5 * _rbf(squared)),
    "matern12": Correlation(lambda squared: np.exp(-np.sqrt(squared)), _slope_of_matern12),
    "matern32": Correlation(_matern32, lambda squared: -1.5 * np.exp(-np.sqrt(3 * squared))),
    "matern52": Correlation(_matern52, _slope_of_matern52),
}


@dataclasses.dataclass(frozen=True)
class StationaryKernel:
    """A kernel of the distance in length scales.

    Args:
        correlation: The family.
        lengthscale: (1, 1), or (1, feature) with one per feature.
        variance: The variance.
    """

    correlation: Correlation
    lengthscale: np.ndarray
    variance: float

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        centre = x.mean(axis=0)
        x, z = (x - centre) / self.lengthscale, (z - centre) / self.lengthscale
        return self.variance * self.correlation.value(squared_distances(x, z))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows, with exactly the variance on the diagonal."""
        gram = self.cross(x, x)
        np.fill_diagonal(gram, self.variance)
        return gram

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return np.full(len(x), self.variance)


def squared_distances(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """|x - z|^2 for all pairs; zero where only rounding is left of it."""
    if x.shape[1] == 1:
        return np.square(x - z.T)
    norms = np.sum(x**2, axis=1)[:, None] + np.sum(z**2, axis=1)
    squared = norms - 2 * x @ z.T
    # As in `gfsvi.kernels.distances`.
    rounding = (4 + math.sqrt(x.shape[1])) * np.finfo(np.float64).eps
    squared[squared <= rounding * norms] = 0
    return squared
