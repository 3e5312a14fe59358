"""Covariance functions and their algebra.

A kernel has three methods: `cross(x, z)` between two sets of points, `gram(x)` of one set with
itself (exact on the diagonal, where white noise enters) and `diagonal(x)`. Kernels can be added,
multiplied and scaled: `2.0 * RBF(0.3) + Periodic() * Matern32().on(0, 2)`.
"""

import dataclasses
import functools
import operator
from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from gfsvi.kernels.code import code_of
from gfsvi.kernels.distances import as_rows, check_scalar
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.printing import DIGITS, Printed, text_of
from gfsvi.numerics.types import Number, Points

Gram = Float[Array, "point other"]


class AbstractKernel(Printed):
    """A positive semi-definite function of two points.

    `proportional_to` names the field that a number in front of the kernel multiplies, so that
    `2.0 * kernel` has one variance to learn; None wraps the kernel in `Scaled`.
    """

    proportional_to: ClassVar[str | None] = None

    @abstractmethod
    def cross(self, x: Points, z: Points) -> Gram:
        """Covariance between the function values at `x` and at `z`."""

    @abstractmethod
    def gram(self, x: Points) -> Gram:
        """Covariance matrix of the function values at `x`."""

    @abstractmethod
    def diagonal(self, x: Points) -> Float[Array, " point"]:
        """Variance of the function at each point of `x`."""

    def __call__(self, x: Points, z: Points | None = None) -> Gram:
        return self.gram(x) if z is None else self.cross(x, z)

    # Otherwise NumPy scalars would turn `number * kernel` into an array of objects.
    __array_ufunc__ = None

    def __add__(self, other: "AbstractKernel | float") -> "AbstractKernel":
        if isinstance(other, AbstractKernel):
            return Sum((*_parts_of(self, Sum), *_parts_of(other, Sum)))
        return Shifted(self, _number(other))

    def __radd__(self, other: float) -> "AbstractKernel":
        is_start_of_sum = isinstance(other, int) and other == 0
        return self if is_start_of_sum else Shifted(self, _number(other))

    def __mul__(self, other: "AbstractKernel | float") -> "AbstractKernel":
        if isinstance(other, AbstractKernel):
            return Product((*_parts_of(self, Product), *_parts_of(other, Product)))
        return _scaled(self, other)

    def __rmul__(self, other: float) -> "AbstractKernel":
        return _scaled(self, other)

    def code(self, digits: int = DIGITS) -> str:
        """The code that makes this kernel again, with this many digits of its numbers."""
        return code_of(self, digits)

    def on(self, *dimensions: int | str) -> "ActiveDimensions":
        """This kernel, restricted to some features: their numbers from 0, or names of columns.

        Names are for estimators and `gfsvi fit`, which know the columns of the table.
        """
        return ActiveDimensions(self, dimensions)


class Sum(AbstractKernel):
    """The covariance of a sum of independent functions."""

    terms: tuple[AbstractKernel, ...]

    def __check_init__(self) -> None:
        check_kernels(self, *self.terms)

    def cross(self, x: Points, z: Points) -> Gram:
        return _sum(term.cross(x, z) for term in self.terms)

    def gram(self, x: Points) -> Gram:
        return _sum(term.gram(x) for term in self.terms)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return _sum(term.diagonal(x) for term in self.terms)


class Product(AbstractKernel):
    """The covariance of a product of independent functions."""

    factors: tuple[AbstractKernel, ...]

    def __check_init__(self) -> None:
        check_kernels(self, *self.factors)

    def cross(self, x: Points, z: Points) -> Gram:
        return _product(factor.cross(x, z) for factor in self.factors)

    def gram(self, x: Points) -> Gram:
        return _product(factor.gram(x) for factor in self.factors)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return _product(factor.diagonal(x) for factor in self.factors)


class AbstractCombined(AbstractKernel):
    """A kernel combined with a positive number."""

    kernel: eqx.AbstractVar[AbstractKernel]
    variance: eqx.AbstractVar[Number]

    def __check_init__(self) -> None:
        check_kernels(self, self.kernel)
        check_positive(self, variance=self.variance)
        check_scalar(self, variance=self.variance)

    @abstractmethod
    def combine(self, covariance: Float[Array, "..."]) -> Float[Array, "..."]:
        """The covariance of the kernel combined with the number."""

    def cross(self, x: Points, z: Points) -> Gram:
        return self.combine(self.kernel.cross(x, z))

    def gram(self, x: Points) -> Gram:
        return self.combine(self.kernel.gram(x))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.combine(self.kernel.diagonal(x))


class Scaled(AbstractCombined):
    """A kernel times a positive number."""

    proportional_to = "variance"
    kernel: AbstractKernel
    variance: Number = positive()

    def combine(self, covariance: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.variance * covariance


class Shifted(AbstractCombined):
    """A kernel plus a positive number: the function plus an unknown constant."""

    kernel: AbstractKernel
    variance: Number = positive()

    def combine(self, covariance: Float[Array, "..."]) -> Float[Array, "..."]:
        return covariance + self.variance


class ActiveDimensions(AbstractKernel):
    """A kernel restricted to some of the features, by number or, in a fit to a table, by name."""

    proportional_to = "kernel"
    kernel: AbstractKernel
    dimensions: tuple[int | str, ...] = eqx.field(static=True, converter=tuple)

    def __check_init__(self) -> None:
        are_numbers = all(isinstance(d, int | np.integer) and d >= 0 for d in self.dimensions)
        are_names = all(isinstance(d, str) and d for d in self.dimensions)
        if not (self.dimensions and (are_numbers or are_names)):
            raise ValueError(
                f"a kernel on some features expects their numbers, counted from 0; "
                f'got {self.dimensions}. For example: kernel.on(0, 2), or kernel.on("size").'
            )
        check_kernels(self, self.kernel)

    def cross(self, x: Points, z: Points) -> Gram:
        return self.kernel.cross(self._select(x), self._select(z))

    def gram(self, x: Points) -> Gram:
        return self.kernel.gram(self._select(x))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.kernel.diagonal(self._select(x))

    @property
    def columns(self) -> tuple[int, ...]:
        """The numbers of the features; raises if they are given by name."""
        numbers = tuple(d for d in self.dimensions if isinstance(d, int | np.integer))
        if not numbers:
            raise ValueError(
                f"the kernel is restricted to the columns {self.dimensions}, which only a fit to a "
                "table knows. Pass the kernel to an estimator, or numbers of features to `on`."
            )
        return numbers

    def _select(self, x: Points) -> Points:
        rows = as_rows(x)
        if max(self.columns) >= rows.shape[1]:
            raise ValueError(
                f"the kernel uses features {self.columns}; got points with "
                f"{rows.shape[1]} features. Features are counted from 0."
            )
        return rows[:, np.asarray(self.columns)]


@code_of.register
def _(kernel: Sum, digits: int) -> str:
    return " + ".join(term.code(digits) for term in kernel.terms)


@code_of.register
def _(kernel: Product, digits: int) -> str:
    return " * ".join(_in_brackets(factor, digits, Sum, Shifted) for factor in kernel.factors)


@code_of.register
def _(kernel: Scaled, digits: int) -> str:
    number, inner = text_of(kernel.variance, digits), kernel.kernel
    if inner.proportional_to is None and not isinstance(inner, Sum | Product | Shifted):
        return f"{number} * {inner.code(digits)}"
    return f"Scaled({inner.code(digits)}, {number})"  # the product would absorb the number


@code_of.register
def _(kernel: Shifted, digits: int) -> str:
    return f"{kernel.kernel.code(digits)} + {text_of(kernel.variance, digits)}"


@code_of.register
def _(kernel: ActiveDimensions, digits: int) -> str:
    inner = _in_brackets(kernel.kernel, digits, Sum, Shifted, Product, Scaled)
    return f"{inner}.on({', '.join(map(repr, kernel.dimensions))})"


def _in_brackets(kernel: AbstractKernel, digits: int, *kinds: type[AbstractKernel]) -> str:
    code = kernel.code(digits)
    return f"({code})" if isinstance(kernel, kinds) else code


def check_kernels(owner: object, *kernels: object) -> None:
    """Raise if a kernel that is built from others is given something else."""
    for kernel in kernels:
        if not isinstance(kernel, AbstractKernel):
            raise TypeError(
                f"{type(owner).__name__} expects kernels; got {kernel!r}. Pass a kernel such as "
                "RBF(), or convert one of another library with gfsvi.kernels.as_kernel."
            )


def _scaled(kernel: AbstractKernel, number: object) -> AbstractKernel:
    """A kernel times a number, which is absorbed where a second variance would be redundant."""
    scaled = Scaled(kernel, _number(number))  # checks and converts the number
    if isinstance(kernel, Sum):
        return Sum(tuple(_scaled(term, scaled.variance) for term in kernel.terms))
    if isinstance(kernel, Product):
        return Product((_scaled(kernel.factors[0], scaled.variance), *kernel.factors[1:]))
    if isinstance(kernel, Shifted):
        inner = _scaled(kernel.kernel, scaled.variance)
        return Shifted(inner, kernel.variance * scaled.variance)
    if kernel.proportional_to is None:
        return scaled
    own = getattr(kernel, kernel.proportional_to)
    return dataclasses.replace(kernel, **{kernel.proportional_to: own * scaled.variance})


def _parts_of(
    kernel: AbstractKernel, kind: type[Sum] | type[Product]
) -> tuple[AbstractKernel, ...]:
    """The terms of a sum or the factors of a product, so that `a + b + c` stays flat."""
    if not isinstance(kernel, kind):
        return (kernel,)
    return kernel.terms if isinstance(kernel, Sum) else kernel.factors


def _sum(arrays: Iterable[Array]) -> Array:
    return functools.reduce(operator.add, arrays)


def _product(arrays: Iterable[Array]) -> Array:
    return functools.reduce(operator.mul, arrays)


def _number(other: object) -> Number:
    if isinstance(other, int | float | np.generic | np.ndarray | jax.Array):
        return other  # pyright: ignore[reportReturnType]  # checked to be a scalar by the kernel
    raise TypeError(
        f"a kernel can be added to or multiplied by another kernel or a positive number; got "
        f"{type(other).__name__}. Convert kernels of other libraries with "
        f"gfsvi.kernels.as_kernel."
    )
