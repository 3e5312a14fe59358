"""Covariance functions and their algebra.

A kernel answers three questions: `cross(x, z)` between two sets of points, `gram(x)` of one set
with itself (exact on the diagonal, where white noise lives) and `diagonal(x)`. Kernels add,
multiply and scale: `2.0 * RBF(0.3) + Periodic() * Matern32().on(0, 2)`.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from gfsvi.kernels.distances import as_rows, check_scalar
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.types import Points

Gram = Float[Array, "point other"]


class AbstractKernel(eqx.Module):
    """A positive semi-definite function of two points."""

    @abstractmethod
    def cross(self, x: Points, z: Points) -> Gram:
        """Covariance between the function at `x` and at `z`."""

    @abstractmethod
    def gram(self, x: Points) -> Gram:
        """Covariance of the function at `x` with itself."""

    @abstractmethod
    def diagonal(self, x: Points) -> Float[Array, " point"]:
        """Variance of the function at each of `x`."""

    def __call__(self, x: Points, z: Points | None = None) -> Gram:
        return self.gram(x) if z is None else self.cross(x, z)

    # NumPy's numbers would otherwise take `number * kernel` for an array of objects.
    __array_ufunc__ = None

    def __add__(self, other: "AbstractKernel | float") -> "AbstractKernel":
        if isinstance(other, AbstractKernel):
            return Sum((self, other))
        return Shifted(self, _number(other))

    def __radd__(self, other: float) -> "AbstractKernel":
        is_start_of_sum = isinstance(other, int) and other == 0
        return self if is_start_of_sum else Shifted(self, _number(other))

    def __mul__(self, other: "AbstractKernel | float") -> "AbstractKernel":
        if isinstance(other, AbstractKernel):
            return Product((self, other))
        return Scaled(self, _number(other))

    def __rmul__(self, other: float) -> "AbstractKernel":
        return Scaled(self, _number(other))

    def on(self, *dimensions: int) -> "ActiveDimensions":
        """This kernel, looking at some of the features only."""
        return ActiveDimensions(self, dimensions)


class Sum(AbstractKernel):
    """The sum of independent functions."""

    terms: tuple[AbstractKernel, ...]

    def cross(self, x: Points, z: Points) -> Gram:
        return sum(term.cross(x, z) for term in self.terms)  # pyright: ignore[reportReturnType]

    def gram(self, x: Points) -> Gram:
        return sum(term.gram(x) for term in self.terms)  # pyright: ignore[reportReturnType]

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return sum(term.diagonal(x) for term in self.terms)  # pyright: ignore[reportReturnType]


class Product(AbstractKernel):
    """The covariance of a product of independent functions."""

    factors: tuple[AbstractKernel, ...]

    def cross(self, x: Points, z: Points) -> Gram:
        return _product([factor.cross(x, z) for factor in self.factors])

    def gram(self, x: Points) -> Gram:
        return _product([factor.gram(x) for factor in self.factors])

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return _product([factor.diagonal(x) for factor in self.factors])


class Scaled(AbstractKernel):
    """A kernel times a positive number."""

    kernel: AbstractKernel
    variance: Float[Array, ""] = positive()

    def __check_init__(self) -> None:
        check_positive(self, variance=self.variance)
        check_scalar(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        return self.variance * self.kernel.cross(x, z)

    def gram(self, x: Points) -> Gram:
        return self.variance * self.kernel.gram(x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.variance * self.kernel.diagonal(x)


class Shifted(AbstractKernel):
    """A kernel plus a positive number: the function and an unknown constant."""

    kernel: AbstractKernel
    variance: Float[Array, ""] = positive()

    def __check_init__(self) -> None:
        check_positive(self, variance=self.variance)
        check_scalar(self, variance=self.variance)

    def cross(self, x: Points, z: Points) -> Gram:
        return self.kernel.cross(x, z) + self.variance

    def gram(self, x: Points) -> Gram:
        return self.kernel.gram(x) + self.variance

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.kernel.diagonal(x) + self.variance


class ActiveDimensions(AbstractKernel):
    """A kernel that sees only the named feature columns."""

    kernel: AbstractKernel
    dimensions: tuple[int, ...] = eqx.field(static=True, converter=tuple)

    def __check_init__(self) -> None:
        are_columns = all(isinstance(d, int | np.integer) and d >= 0 for d in self.dimensions)
        if not (self.dimensions and are_columns):
            raise ValueError(
                f"a kernel on some features expects their numbers, counted from 0; "
                f"got {self.dimensions}. Write for instance kernel.on(0, 2)."
            )

    def cross(self, x: Points, z: Points) -> Gram:
        return self.kernel.cross(self._select(x), self._select(z))

    def gram(self, x: Points) -> Gram:
        return self.kernel.gram(self._select(x))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.kernel.diagonal(self._select(x))

    def _select(self, x: Points) -> Points:
        rows = as_rows(x)
        if max(self.dimensions) >= rows.shape[1]:
            raise ValueError(
                f"the kernel looks at features {self.dimensions}; got points with "
                f"{rows.shape[1]} features. Features are counted from 0."
            )
        return rows[:, np.asarray(self.dimensions)]


def _product(arrays: list[Array]) -> Array:
    result = arrays[0]
    for array in arrays[1:]:
        result = result * array
    return result


def _number(other: Any) -> Any:
    if isinstance(other, int | float | np.generic | np.ndarray | jax.Array):
        return other
    raise TypeError(
        f"a kernel adds to or multiplies another kernel or a positive number; got "
        f"{type(other).__name__}. Turn kernels of other libraries into ours with "
        f"gfsvi.kernels.as_kernel."
    )
