"""Covariance functions and their algebra.

A kernel answers three questions: `cross(x, z)` between two sets of points, `gram(x)` of one set
with itself (exact on the diagonal, where white noise lives) and `diagonal(x)`. Kernels add,
multiply and scale: `2.0 * RBF(0.3) + Periodic() * Matern32().on(0, 2)`.
"""

import math
from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.params import check_positive, positive

Points = Float[Array, "point *feature"]
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


class AbstractStationaryKernel(AbstractKernel):
    """A kernel of the distance between two points, each feature on its own length scale.

    A subclass gives the correlation as a function of the squared scaled distance; it must
    have finite derivatives at zero.
    """

    lengthscale: eqx.AbstractVar[Float[Array, ""] | Float[Array, " feature"]]
    variance: eqx.AbstractVar[Float[Array, ""]]

    def __check_init__(self) -> None:
        check_scalar(self, variance=self.variance)

    @abstractmethod
    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        """Correlation at a squared distance measured in length scales."""

    def cross(self, x: Points, z: Points) -> Gram:
        return self.variance * self.correlation(squared_distances(*self._scaled(x, z)))

    def gram(self, x: Points) -> Gram:
        return self.variance * self.correlation(squared_distances_within(*self._scaled(x)))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return jnp.broadcast_to(jnp.asarray(self.variance), x.shape[:1])

    def _scaled(self, *sets: Points) -> list[Points]:
        return [x / per_feature(self, "lengthscale", x) for x in centred_rows(*sets)]


def as_rows(x: Points) -> Float[Array, "point feature"]:
    """Points as rows of numbers: images are flattened, scalars become one feature."""
    x = jnp.asarray(x)
    return jnp.reshape(x, (len(x), math.prod(x.shape[1:])))


def aligned_rows(*sets: Points) -> list[Float[Array, "point feature"]]:
    """Several sets of points as rows, all of the same number of features."""
    rows = [as_rows(x) for x in sets]
    widths = [x.shape[1] for x in rows]
    if len(set(widths)) > 1:
        raise ValueError(
            f"a kernel expects points with the same number of features; "
            f"got {' and '.join(map(str, widths))}. Give both sets the same columns."
        )
    return rows


def centred_rows(*sets: Points) -> list[Float[Array, "point feature"]]:
    """Rows without their common offset: it changes no distance, only the rounding of distances."""
    rows = aligned_rows(*sets)
    centre = jax.lax.stop_gradient(jnp.mean(rows[0], axis=0, keepdims=True))
    return [x - centre for x in rows]


def per_feature(kernel: AbstractKernel, name: str, rows: Float[Array, "n k"]) -> Array:
    """The named parameter as one row that fits `rows`, refused in words if it does not."""
    value = jnp.reshape(getattr(kernel, name), (1, -1))
    if value.size not in (1, rows.shape[1]):
        raise ValueError(
            f"{type(kernel).__name__} expects one {name} or one a feature; got {value.size} for "
            f"{rows.shape[1]} features. Give one number, or {rows.shape[1]}."
        )
    return value


def squared_distances(x: Float[Array, "n k"], z: Float[Array, "m k"]) -> Float[Array, "n m"]:
    """|x - z|^2 of all pairs, through one matrix product."""
    norms = jnp.sum(x**2, axis=1)[:, None] + jnp.sum(z**2, axis=1)[None, :]
    squared = norms - 2 * x @ z.T
    # Where points coincide only rounding is left, and a square root would make 1e-8 of 1e-16.
    # Measured: at most 1.6 units for 3 features, 13 for 784.
    units = 4 + math.sqrt(x.shape[1])
    return jnp.where(squared > units * jnp.finfo(squared.dtype).eps * norms, squared, 0)


def squared_distances_within(x: Float[Array, "n k"]) -> Float[Array, "n n"]:
    """|x - x'|^2 of all pairs of one set, exactly zero on the diagonal."""
    off_diagonal = 1 - jnp.eye(len(x), dtype=x.dtype)
    return squared_distances(x, x) * off_diagonal


def safe_sqrt(squared: Float[Array, "..."]) -> Float[Array, "..."]:
    """Square root whose derivative at zero is zero instead of infinite."""
    is_zero = squared <= 0
    return jnp.where(is_zero, 0, jnp.sqrt(jnp.where(is_zero, 1, squared)))


def check_scalar(owner: object, **values: Any) -> None:
    """Refuse an array where one number is meant, in words."""
    for name, value in values.items():
        if np.ndim(value) > 0:
            raise ValueError(
                f"{type(owner).__name__} expects one number as {name}; got an array of shape "
                f"{np.shape(value)}."
            )


def _number(other: Any) -> Any:
    if isinstance(other, int | float | np.generic | np.ndarray | jax.Array):
        return other
    raise TypeError(
        f"a kernel adds to or multiplies another kernel or a positive number; got "
        f"{type(other).__name__}. Turn kernels of other libraries into ours with "
        f"gfsvi.kernels.as_kernel."
    )


def _product(arrays: list[Array]) -> Array:
    result = arrays[0]
    for array in arrays[1:]:
        result = result * array
    return result


def with_own_lengthscales(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """A kernel to learn from, with a length scale for each feature where it has length scales."""
    if "lengthscale" in kind.__dataclass_fields__:
        return kind(lengthscale=np.full(num_features, num_features**0.5))
    return kind()


def with_common_lengthscale(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """The same with one length scale for all features, such as the pixels of images."""
    if "lengthscale" in kind.__dataclass_fields__:
        return kind(lengthscale=num_features**0.5)
    return kind()
