"""Kernels that are made of others, with the slopes that a search for their parameters needs."""

import dataclasses
import functools
import operator

import numpy as np

from gfsvi.plain import composed
from gfsvi.plain.kernels import PlainKernel, Pull


@dataclasses.dataclass(frozen=True)
class SumKernel(composed.SumKernel):
    """The covariance of a sum of independent functions."""

    terms: tuple[PlainKernel, ...]

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the parameters of all terms."""
        grams, pulls = zip(*(term.with_slopes(x) for term in self.terms), strict=True)

        def pull(weights: np.ndarray) -> list[np.ndarray]:
            return [slope for of_term in pulls for slope in of_term(weights)]

        return functools.reduce(operator.add, grams), pull


@dataclasses.dataclass(frozen=True)
class ProductKernel(composed.ProductKernel):
    """The covariance of a product of independent functions."""

    factors: tuple[PlainKernel, ...]

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
class RestrictedKernel(composed.RestrictedKernel):
    """A kernel of some of the features."""

    kernel: PlainKernel

    def with_slopes(self, x: np.ndarray) -> tuple[np.ndarray, Pull]:
        """Covariances between all rows, and their slopes by the parameters of the kernel."""
        return self.kernel.with_slopes(x[:, self.columns])
