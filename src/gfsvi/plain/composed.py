"""Values of kernels in NumPy: families that no fit needs slopes of, and kernels made of others."""

import dataclasses
import functools
import operator

import numpy as np

from gfsvi.plain.kernels import Correlation, KernelInNumpy


def rational_quadratic(mixture: float) -> Correlation:
    """The correlation of the rational quadratic kernel."""

    def value(squared: np.ndarray) -> np.ndarray:
        return np.exp(-mixture * np.log1p(squared / (2 * mixture)))

    return Correlation(value, lambda squared: -0.5 * value(squared) / (1 + squared / (2 * mixture)))


@dataclasses.dataclass(frozen=True)
class WhiteKernel:
    """Independent noise at every row, even at rows that coincide."""

    variance: float

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return np.zeros((len(x), len(z)))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return np.diag(self.diagonal(x))

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return np.full(len(x), self.variance)


@dataclasses.dataclass(frozen=True)
class SumKernel:
    """The covariance of a sum of independent functions."""

    terms: tuple[KernelInNumpy, ...]

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return functools.reduce(operator.add, (term.cross(x, z) for term in self.terms))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return functools.reduce(operator.add, (term.gram(x) for term in self.terms))

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return functools.reduce(operator.add, (term.diagonal(x) for term in self.terms))


@dataclasses.dataclass(frozen=True)
class ProductKernel:
    """The covariance of a product of independent functions."""

    factors: tuple[KernelInNumpy, ...]

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return functools.reduce(operator.mul, (factor.cross(x, z) for factor in self.factors))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return functools.reduce(operator.mul, (factor.gram(x) for factor in self.factors))

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return functools.reduce(operator.mul, (factor.diagonal(x) for factor in self.factors))


@dataclasses.dataclass(frozen=True)
class RestrictedKernel:
    """A kernel of some of the features."""

    kernel: KernelInNumpy
    columns: tuple[int, ...]

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return self.kernel.cross(x[:, self.columns], z[:, self.columns])

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return self.kernel.gram(x[:, self.columns])

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return self.kernel.diagonal(x[:, self.columns])


class RememberingKernel:
    """A kernel that is evaluated once for the same arrays, which nobody changes."""

    def __init__(self, kernel: KernelInNumpy):
        self._kernel = kernel
        self._known: dict[tuple[int, ...], tuple[np.ndarray, ...]] = {}

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        if (id(z), id(x)) in self._known:
            return self._known[id(z), id(x)][0].T
        if (id(x), id(z)) not in self._known:  # the arrays are kept, so that ids stay theirs
            self._known[id(x), id(z)] = (self._kernel.cross(x, z), x, z)
        return self._known[id(x), id(z)][0]

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        if (id(x),) not in self._known:
            self._known[(id(x),)] = (self._kernel.gram(x), x)
        return self._known[(id(x),)][0].copy()

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return self._kernel.diagonal(x)
