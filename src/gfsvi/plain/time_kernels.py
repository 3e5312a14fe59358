"""Kernels of trends and seasons in NumPy."""

import dataclasses

import numpy as np

from gfsvi.plain.kernels import CORRELATIONS, Pull, StationaryKernel, per_parameter


@dataclasses.dataclass(frozen=True)
class ConstantKernel:
    """`gfsvi.kernels.Constant`: an unknown level."""

    variance: float

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return np.full((len(x), len(z)), self.variance)

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return self.cross(x, x)

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance, at each row."""
        return np.full(len(x), self.variance)

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slope by the variance."""
        return self.gram(x), lambda weights: [self.variance * np.sum(weights)]


@dataclasses.dataclass(frozen=True)
class LinearKernel:
    """`gfsvi.kernels.Linear`: straight lines through the origin.

    Args:
        variance: (1, 1), or (1, feature) with one per feature.
    """

    variance: np.ndarray

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return (self.variance * x) @ z.T

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return self.cross(x, x)

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return np.sum(self.variance * x**2, axis=1)

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the variances."""

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            by_feature = self.variance[0] * np.sum(x * (weights @ x), axis=0)
            return [per_parameter(by_feature, self.variance)]

        return self.gram(x), pull


@dataclasses.dataclass(frozen=True)
class IntegratedBrownianKernel:
    """`gfsvi.kernels.IntegratedBrownian`: lines whose slope wanders.

    Args:
        variance: (1, 1), or (1, feature) with one per feature.
    """

    variance: np.ndarray

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        parts = zip(self._variances(x), self._parts(x, z), strict=True)
        return np.sum([variance * part for variance, part in parts], axis=0)

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return self.cross(x, x)

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return np.sum(self.variance * np.abs(x) ** 3 / 3, axis=1)

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the variances."""
        pairs = zip(self._variances(x), self._parts(x, x), strict=True)
        parts = [variance * part for variance, part in pairs]

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            by_feature = np.array([np.sum(weights * part) for part in parts])
            return [per_parameter(by_feature, self.variance)]

        return np.sum(parts, axis=0), pull

    def _variances(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(self.variance[0], x.shape[1:])

    @staticmethod
    def _parts(x: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
        """For each feature, the covariances of unit variance."""
        parts = []
        for one, other in zip(x.T[:, :, None], z.T[:, None, :], strict=True):
            near = np.minimum(np.abs(one), np.abs(other))
            far = np.maximum(np.abs(one), np.abs(other))
            parts.append(np.where(one * other > 0, near**2 * (far / 2 - near / 6), 0.0))
        return parts


@dataclasses.dataclass(frozen=True)
class PeriodicKernel:
    """`gfsvi.kernels.Periodic`: functions that repeat.

    Args:
        lengthscale: (1, 1), or (1, feature) with one per feature.
        variance: The variance.
        period: (1, 1), or (1, feature) with one per feature.
    """

    lengthscale: np.ndarray
    variance: float
    period: np.ndarray

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return self.variance * np.exp(-2 * np.sum(self._squares(self._angles(x, z)), axis=0))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return self.cross(x, x)

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance, at each row."""
        return np.full(len(x), self.variance)

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by length scales, variance, periods."""
        angles = self._angles(x, x)
        squares = self._squares(angles)
        signal = self.variance * np.exp(-2 * np.sum(squares, axis=0))

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            weighted = weights * signal
            by_length = np.array([4 * np.sum(weighted * square) for square in squares])
            # d sin^2(a) / d log p = -a sin(2a), a = pi (x - z) / p
            bent = 2 * angles * np.sin(2 * angles) / self.lengthscale.T[:, :, None] ** 2
            by_period = np.sum(weighted * bent, axis=(1, 2))
            return [
                per_parameter(by_length, self.lengthscale),
                np.sum(weighted),
                per_parameter(by_period, self.period),
            ]

        return signal, pull

    def _angles(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Half the angles between rows, (feature, row of x, row of z)."""
        x, z = np.pi * x / self.period, np.pi * z / self.period
        return x.T[:, :, None] - z.T[:, None, :]

    def _squares(self, angles: np.ndarray) -> np.ndarray:
        return (np.sin(angles) / self.lengthscale.T[:, :, None]) ** 2


@dataclasses.dataclass(frozen=True)
class LocallyPeriodicKernel:
    """`gfsvi.kernels.LocallyPeriodic`: functions that repeat, and whose shape drifts.

    Args:
        lengthscale: The distance over which the shape persists, (1, 1) or (1, feature).
        variance: The variance.
        period: (1, 1), or (1, feature) with one per feature.
        periodic_lengthscale: The length scale within a period, (1, 1) or (1, feature).
    """

    lengthscale: np.ndarray
    variance: float
    period: np.ndarray
    periodic_lengthscale: np.ndarray

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return self._drift.cross(x, z) * self._season.cross(x, z)

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return self._drift.gram(x) * self._season.gram(x)

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance, at each row."""
        return np.full(len(x), self.variance)

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by all four parameters."""
        (drift, pull_drift), (season, pull_season) = (
            part.with_slopes(x) for part in (self._drift, self._season)
        )

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            by_length, by_variance = pull_drift(weights * season)
            by_inner, _, by_period = pull_season(weights * drift)
            return [by_length, by_variance, by_period, by_inner]

        return drift * season, pull

    @property
    def _drift(self) -> StationaryKernel:
        return StationaryKernel(CORRELATIONS["rbf"], self.lengthscale, self.variance)

    @property
    def _season(self) -> PeriodicKernel:
        return PeriodicKernel(self.periodic_lengthscale, 1.0, self.period)
