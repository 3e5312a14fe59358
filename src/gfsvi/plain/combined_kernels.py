"""Kernels that are made of others, in NumPy."""

import dataclasses
import functools
import operator

import numpy as np

from gfsvi.plain.kernels import PlainKernel, Pull


@dataclasses.dataclass(frozen=True)
class SumKernel:
    """The covariance of a sum of independent functions."""

    terms: tuple[PlainKernel, ...]

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return functools.reduce(operator.add, (term.cross(x, z) for term in self.terms))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return functools.reduce(operator.add, (term.gram(x) for term in self.terms))

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return functools.reduce(operator.add, (term.diagonal(x) for term in self.terms))

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the parameters of all terms."""
        grams, pulls = zip(*(term.with_slopes(x) for term in self.terms), strict=True)

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            return [slope for of_term in pulls for slope in of_term(weights)]

        return functools.reduce(operator.add, grams), pull


@dataclasses.dataclass(frozen=True)
class ProductKernel:
    """The covariance of a product of independent functions."""

    factors: tuple[PlainKernel, ...]

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return functools.reduce(operator.mul, (factor.cross(x, z) for factor in self.factors))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances between all rows."""
        return functools.reduce(operator.mul, (factor.gram(x) for factor in self.factors))

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """The variance at each row."""
        return functools.reduce(operator.mul, (factor.diagonal(x) for factor in self.factors))

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the parameters of all factors."""
        grams, pulls = zip(*(factor.with_slopes(x) for factor in self.factors), strict=True)

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            slopes: list[np.ndarray] = []
            for number, of_factor in enumerate(pulls):
                others = (*grams[:number], *grams[number + 1 :])
                slopes += of_factor(functools.reduce(operator.mul, others, weights))
            return slopes

        return functools.reduce(operator.mul, grams), pull


@dataclasses.dataclass(frozen=True)
class RestrictedKernel:
    """A kernel of some of the features."""

    kernel: PlainKernel
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

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the parameters of the kernel."""
        return self.kernel.with_slopes(x[:, self.columns])
