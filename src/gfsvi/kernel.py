"""Covariance functions and their algebra.

A kernel answers three questions: `cross(x, z)` between two sets of points, `gram(x)` of one set
with itself (exact on the diagonal, where white noise lives) and `diagonal(x)`. Kernels add,
multiply and scale: `2.0 * RBF(0.3) + Periodic() * Matern32().on(0, 2)`.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
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

    def __add__(self, other: "AbstractKernel | float") -> "Sum":
        return Sum((self, _as_term(other)))

    def __radd__(self, other: "AbstractKernel | float") -> "Sum":
        return Sum((_as_term(other), self))

    def __mul__(self, other: "AbstractKernel | float") -> "Product | Scaled":
        return Product((self, other)) if isinstance(other, AbstractKernel) else Scaled(self, other)

    def __rmul__(self, other: float) -> "Scaled":
        return Scaled(self, other)

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

    def cross(self, x: Points, z: Points) -> Gram:
        return self.variance * self.kernel.cross(x, z)

    def gram(self, x: Points) -> Gram:
        return self.variance * self.kernel.gram(x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.variance * self.kernel.diagonal(x)


class ActiveDimensions(AbstractKernel):
    """A kernel that sees only the named feature columns."""

    kernel: AbstractKernel
    dimensions: tuple[int, ...] = eqx.field(static=True)

    def cross(self, x: Points, z: Points) -> Gram:
        return self.kernel.cross(self._select(x), self._select(z))

    def gram(self, x: Points) -> Gram:
        return self.kernel.gram(self._select(x))

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.kernel.diagonal(self._select(x))

    def _select(self, x: Points) -> Points:
        if max(self.dimensions, default=0) >= x.shape[1]:
            raise ValueError(
                f"the kernel looks at features {self.dimensions}; got points with "
                f"{x.shape[1]} features. Features are counted from 0."
            )
        return x[:, jnp.asarray(self.dimensions)]


class AbstractStationaryKernel(AbstractKernel):
    """A kernel of the distance between two points, each feature on its own length scale.

    A subclass gives the correlation as a function of the squared scaled distance; it must
    have finite derivatives at zero.
    """

    lengthscale: eqx.AbstractVar[Float[Array, ""] | Float[Array, " feature"]]
    variance: eqx.AbstractVar[Float[Array, ""]]

    @abstractmethod
    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        """Correlation at a squared distance measured in length scales."""

    def cross(self, x: Points, z: Points) -> Gram:
        return self.variance * self.correlation(squared_distances(*self._scaled(x, z)))

    def gram(self, x: Points) -> Gram:
        (scaled,) = self._scaled(x)
        distances = squared_distances(scaled, scaled)
        # The matmul form leaves rounding on the diagonal, where the distance is exactly zero.
        off_diagonal = 1 - jnp.eye(len(distances), dtype=distances.dtype)
        return self.variance * self.correlation(distances * off_diagonal)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return jnp.broadcast_to(jnp.asarray(self.variance), x.shape[:1])

    def _scaled(self, *sets: Points) -> list[Points]:
        flat = [as_rows(x) for x in sets]
        width, num_scales = flat[0].shape[1], jnp.size(self.lengthscale)
        if num_scales not in (1, width):
            raise ValueError(
                f"{type(self).__name__} expects one length scale or one a feature; "
                f"got {num_scales} for {width} features."
            )
        # Distances do not change under a shift, but their rounding does: centre first.
        centre = jnp.mean(flat[0], axis=0)
        return [(x - centre) / self.lengthscale for x in flat]


def as_rows(x: Points) -> Float[Array, "point feature"]:
    """Points as rows of numbers: images are flattened, scalars become one feature."""
    return jnp.reshape(x, (len(x), -1))


def squared_distances(x: Float[Array, "n k"], z: Float[Array, "m k"]) -> Float[Array, "n m"]:
    """|x - z|^2 of all pairs, through one matrix product."""
    norms = jnp.sum(x**2, axis=1)[:, None] + jnp.sum(z**2, axis=1)[None, :]
    return jnp.maximum(norms - 2 * x @ z.T, 0)


def safe_sqrt(squared: Float[Array, "..."]) -> Float[Array, "..."]:
    """Square root whose derivative at zero is zero instead of infinite."""
    is_zero = squared <= 0
    return jnp.where(is_zero, 0, jnp.sqrt(jnp.where(is_zero, 1, squared)))


def _as_term(other: "AbstractKernel | float") -> AbstractKernel:
    if isinstance(other, AbstractKernel):
        return other
    from gfsvi.kernels.constant import Constant  # a constant is a kernel too

    return Constant(other)


def _product(arrays: list[Array]) -> Array:
    result = arrays[0]
    for array in arrays[1:]:
        result = result * array
    return result
