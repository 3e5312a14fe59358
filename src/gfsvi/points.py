"""Measurement points, at which prior and posterior are compared.

A distribution is bound to the training inputs once (`bind`) and sampled at every step (`draw`).
"""

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, Self, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.numerics.types import Points

Drawn: TypeAlias = Float[Array, "point *feature"]


class AbstractPoints(eqx.Module):
    """A distribution of measurement points."""

    if TYPE_CHECKING:  # a field or a property, hence no argument of every constructor
        num_points: int = eqx.field(init=False)
    else:
        num_points: eqx.AbstractVar[int]

    @abstractmethod
    def bind(self, x: Points) -> "AbstractPoints":
        """The same distribution with what it needs to know about the training inputs."""

    @abstractmethod
    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        """Draw `num_points` points; `batch` holds the inputs of the current step."""


class AbstractBox(AbstractPoints):
    """Points in a box: given, or the range of the training inputs widened on both sides.

    All pixels of images share one range, because pixels at the edge are often constant.
    """

    lower: eqx.AbstractVar[ArrayLike | None]
    upper: eqx.AbstractVar[ArrayLike | None]
    widen: eqx.AbstractVar[float]

    @abstractmethod
    def draw_unit(
        self, shape: tuple[int, ...], dtype: DTypeLike, *, key: PRNGKeyArray
    ) -> Float[Array, "point *feature"]:
        """Points in the unit cube; `shape` is the shape of one point."""

    def bind(self, x: Points) -> Self:
        lower, upper = _box(self.lower, self.upper, x, self.widen)
        return dataclasses.replace(self, lower=lower, upper=upper)

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        lower, upper = jnp.asarray(self.lower, batch.dtype), jnp.asarray(self.upper, batch.dtype)
        unit = self.draw_unit(lower.shape, batch.dtype, key=key)
        return lower + (upper - lower) * unit


class UniformBox(AbstractBox):
    """Uniform in a box: given, or the range of the training inputs widened on both sides."""

    num_points: int = eqx.field(static=True, default=100)
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    widen: float = eqx.field(static=True, default=0.5)

    def draw_unit(self, shape: tuple[int, ...], dtype: DTypeLike, *, key: PRNGKeyArray) -> Drawn:
        return jax.random.uniform(key, (self.num_points, *shape), dtype)


class LowDiscrepancy(AbstractBox):
    """A box covered evenly: an additive recurrence, shifted at random at every step."""

    num_points: int = eqx.field(static=True, default=100)
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    widen: float = eqx.field(static=True, default=0.5)

    def draw_unit(self, shape: tuple[int, ...], dtype: DTypeLike, *, key: PRNGKeyArray) -> Drawn:
        # Roberts' R_d sequence: steps are powers of the generalised golden ratio.
        dimension = max(1, int(np.prod(shape)))
        ratio = 2.0
        for _ in range(64):
            ratio = (1 + ratio) ** (1 / (dimension + 1))
        steps = np.reshape(ratio ** -np.arange(1.0, dimension + 1), shape)
        index = jnp.reshape(jnp.arange(self.num_points), (-1,) + (1,) * len(shape))
        shift = jax.random.uniform(key, shape, dtype)
        return jnp.asarray((shift + index * jnp.asarray(steps)) % 1.0, dtype)


class BatchRows(AbstractPoints):
    """Inputs of the current mini-batch, repeated only if there are too few."""

    num_points: int = eqx.field(static=True, default=100)

    def bind(self, x: Points) -> "BatchRows":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        return jnp.asarray(batch)[_choose(len(batch), self.num_points, key)]


class Rows(AbstractPoints):
    """Rows of another data set."""

    x: Points
    num_points: int = eqx.field(static=True, default=100)

    def bind(self, x: Points) -> "Rows":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        chosen = jnp.asarray(self.x)[_choose(len(self.x), self.num_points, key)]
        return chosen.astype(batch.dtype)


class FixedPoints(AbstractPoints):
    """The same points at every step: those given, or all training inputs."""

    x: Points | None = None

    @property
    def num_points(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self._points)

    def bind(self, x: Points) -> "FixedPoints":
        return FixedPoints(x) if self.x is None else self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        return jnp.asarray(self._points, batch.dtype)

    @property
    def _points(self) -> Points:
        if self.x is None:
            raise ValueError("FixedPoints expects points; got none. Pass them, or bind it first.")
        return self.x


class Between(AbstractPoints):
    """Random points on the lines between rows of the batch."""

    num_points: int = eqx.field(static=True, default=100)

    def bind(self, x: Points) -> "Between":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        first_key, second_key, share_key = jax.random.split(key, 3)
        rows = jnp.asarray(batch)
        first = rows[_choose(len(rows), self.num_points, first_key)]
        second = rows[_choose(len(rows), self.num_points, second_key)]
        shape = (self.num_points,) + (1,) * (batch.ndim - 1)
        share = jax.random.uniform(share_key, shape, batch.dtype)
        return first + share * (second - first)


class RandomPixel(AbstractPoints):
    """The paper's random pixel: each pixel takes its value from a random image of the batch."""

    num_points: int = eqx.field(static=True, default=25)

    def bind(self, x: Points) -> "RandomPixel":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        shape = (self.num_points, *batch.shape[1:])
        donors = jax.random.randint(key, shape, 0, len(batch))
        return jnp.take_along_axis(batch, donors, axis=0)


class Mixture(AbstractPoints):
    """Points from several distributions, concatenated."""

    parts: tuple[AbstractPoints, ...]

    @property
    def num_points(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return sum(part.num_points for part in self.parts)

    def bind(self, x: Points) -> "Mixture":
        return Mixture(tuple(part.bind(x) for part in self.parts))

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Drawn:
        keys = jax.random.split(key, len(self.parts))
        drawn = [part.draw(batch, key=k) for part, k in zip(self.parts, keys, strict=True)]
        return jnp.concatenate(drawn)


def begins_with(points: AbstractPoints, x: Points) -> bool:
    """Whether every draw begins with these rows, in this order."""
    if isinstance(points, Mixture):
        return begins_with(points.parts[0], x)
    return isinstance(points, FixedPoints) and np.array_equal(np.asarray(points.x), x)


def _box(
    lower: ArrayLike | None, upper: ArrayLike | None, x: Points, widen: float
) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.min(x, axis=0), np.max(x, axis=0)
    if low.ndim > 1:  # images
        low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
    margin = widen * (high - low)
    bottom = low - margin if lower is None else np.broadcast_to(lower, low.shape)
    top = high + margin if upper is None else np.broadcast_to(upper, high.shape)
    if not np.all(bottom <= top):
        raise ValueError(
            f"a box expects lower <= upper; got {bottom} and {top}. Swap the bounds that differ."
        )
    return bottom, top


def _choose(num_rows: int, num_points: int, key: PRNGKeyArray) -> Int[Array, " point"]:
    """Random row numbers; every row appears once before any is repeated."""
    rounds = -(-num_points // num_rows)
    orders = [jax.random.permutation(k, num_rows) for k in jax.random.split(key, rounds)]
    return jnp.concatenate(orders)[:num_points]
