"""Stationary kernels in NumPy."""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

Pull = Callable[[np.ndarray], list[np.ndarray]]
"""From a symmetric matrix A to the derivatives of sum(A * K) by the logarithms of the parameters.

One array per parameter, in the order of the fields of the kernel in `gfsvi.kernels`.
"""


class PlainKernel(Protocol):
    """A covariance function of rows of numbers."""

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        ...

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        ...

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        ...

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and how they change with the parameters."""
        ...


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


class KernelInNumpy(Protocol):
    """A kernel whose values are arrays of NumPy."""

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        ...

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances of all pairs of rows."""
        ...

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """Variances at rows."""
        ...


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
        """The variance, at each row."""
        return np.full(len(x), self.variance)

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by length scales and variance."""
        scaled = (x - x.mean(axis=0)) / self.lengthscale
        squared = squared_distances(scaled, scaled)
        signal = self.variance * self.correlation.value(squared)

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            by_variance = np.asarray(np.sum(weights * signal))
            slope = self.variance * weights * self.correlation.slope(squared)
            # sum_ij A_ij (x_i - x_j)^2 = 2 sum_i x_i^2 (A 1)_i - 2 x' A x for symmetric A
            sums = slope.sum(axis=1) @ scaled**2 - np.sum(scaled * (slope @ scaled), axis=0)
            return [per_parameter(-4 * sums, self.lengthscale), by_variance]

        return signal, pull


def per_parameter(by_feature: np.ndarray, parameter: np.ndarray) -> np.ndarray:
    """Derivatives by a parameter of each feature, or by one that all features share."""
    return by_feature if np.size(parameter) > 1 else np.sum(by_feature)


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
