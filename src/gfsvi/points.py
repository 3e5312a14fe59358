"""Where prior and posterior are compared: the measurement points.

A distribution is bound to the training inputs once (`bind`) and then drawn from at every step.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from gfsvi.numerics.types import Points


class AbstractPoints(eqx.Module):
    """A distribution of measurement points."""

    num_points: eqx.AbstractVar[int]

    @abstractmethod
    def bind(self, x: Points) -> "AbstractPoints":
        """The same distribution with whatever it needs to know of the training inputs."""

    @abstractmethod
    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        """`num_points` points; `batch` holds the inputs of the current step."""


class UniformBox(AbstractPoints):
    """Uniform in a box: given, or the range of the training inputs widened on both sides.

    Pixels of images have one range in common: those at the edge are often constant.
    """

    num_points: int = eqx.field(static=True, default=100)
    lower: Any = None
    upper: Any = None
    widen: float = eqx.field(static=True, default=0.5)

    def bind(self, x: Points) -> "UniformBox":
        lower, upper = _box(self.lower, self.upper, x, self.widen)
        return UniformBox(self.num_points, lower, upper, self.widen)

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        unit = jax.random.uniform(key, (self.num_points, *jnp.shape(self.lower)), batch.dtype)
        return _stretch(unit, self.lower, self.upper)


class LowDiscrepancy(AbstractPoints):
    """A box covered evenly: an additive recurrence, shifted at random at every step."""

    num_points: int = eqx.field(static=True, default=100)
    lower: Any = None
    upper: Any = None
    widen: float = eqx.field(static=True, default=0.5)

    def bind(self, x: Points) -> "LowDiscrepancy":
        lower, upper = _box(self.lower, self.upper, x, self.widen)
        return LowDiscrepancy(self.num_points, lower, upper, self.widen)

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        shape = jnp.shape(self.lower)
        # Roberts' R_d sequence: steps are powers of the generalised golden ratio.
        dimension = max(1, int(np.prod(shape)))
        ratio = 2.0
        for _ in range(64):
            ratio = (1 + ratio) ** (1 / (dimension + 1))
        steps = np.reshape(ratio ** -np.arange(1.0, dimension + 1), shape)
        index = jnp.reshape(jnp.arange(self.num_points), (-1,) + (1,) * len(shape))
        shift = jax.random.uniform(key, shape, batch.dtype)
        unit = jnp.asarray((shift + index * jnp.asarray(steps)) % 1.0, batch.dtype)
        return _stretch(unit, self.lower, self.upper)


class BatchRows(AbstractPoints):
    """Inputs of the current mini-batch, without repetition as far as they reach."""

    num_points: int = eqx.field(static=True, default=100)

    def bind(self, x: Points) -> "BatchRows":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        return batch[_choose(len(batch), self.num_points, key)]


class Rows(AbstractPoints):
    """Rows of another data set."""

    x: Points
    num_points: int = eqx.field(static=True, default=100)

    def bind(self, x: Points) -> "Rows":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        chosen = jnp.asarray(self.x)[_choose(len(self.x), self.num_points, key)]
        return chosen.astype(batch.dtype)


class FixedPoints(AbstractPoints):
    """The same points at every step: those given, or all training inputs."""

    x: Any = None

    @property
    def num_points(self) -> int:
        return len(self.x)

    def bind(self, x: Points) -> "FixedPoints":
        return FixedPoints(x) if self.x is None else self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        return jnp.asarray(self.x, batch.dtype)


class Between(AbstractPoints):
    """Points on the lines between rows of the batch: near the data, where predictions are made."""

    num_points: int = eqx.field(static=True, default=100)

    def bind(self, x: Points) -> "Between":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        first_key, second_key, share_key = jax.random.split(key, 3)
        first = batch[_choose(len(batch), self.num_points, first_key)]
        second = batch[_choose(len(batch), self.num_points, second_key)]
        shape = (self.num_points,) + (1,) * (batch.ndim - 1)
        share = jax.random.uniform(share_key, shape, batch.dtype)
        return first + share * (second - first)


class RandomPixel(AbstractPoints):
    """The paper's random pixel: each pixel takes its value from some image of the batch."""

    num_points: int = eqx.field(static=True, default=25)

    def bind(self, x: Points) -> "RandomPixel":
        return self

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        shape = (self.num_points, *batch.shape[1:])
        donors = jax.random.randint(key, shape, 0, len(batch))
        return jnp.take_along_axis(batch, donors, axis=0)


class Mixture(AbstractPoints):
    """Points from several distributions, side by side."""

    parts: tuple[AbstractPoints, ...]

    @property
    def num_points(self) -> int:
        return sum(part.num_points for part in self.parts)

    def bind(self, x: Points) -> "Mixture":
        return Mixture(tuple(part.bind(x) for part in self.parts))

    def draw(self, batch: Points, *, key: PRNGKeyArray) -> Points:
        keys = jax.random.split(key, len(self.parts))
        drawn = [part.draw(batch, key=k) for part, k in zip(self.parts, keys, strict=True)]
        return jnp.concatenate(drawn)


def begins_with(points: AbstractPoints, x: Points) -> bool:
    """Whether every draw begins with these rows, in their order."""
    if isinstance(points, Mixture):
        return begins_with(points.parts[0], x)
    return isinstance(points, FixedPoints) and np.array_equal(points.x, x)


def _box(lower: Any, upper: Any, x: Points, widen: float) -> tuple[Array, Array]:
    low, high = np.min(x, axis=0), np.max(x, axis=0)
    if low.ndim > 1:  # images
        low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
    margin = widen * (high - low)
    lower = low - margin if lower is None else np.broadcast_to(lower, low.shape)
    upper = high + margin if upper is None else np.broadcast_to(upper, high.shape)
    if not np.all(lower <= upper):
        raise ValueError(f"a box expects lower <= upper; got {lower} and {upper}.")
    return lower, upper


def _stretch(unit: Points, lower: Array, upper: Array) -> Points:
    lower, upper = jnp.asarray(lower, unit.dtype), jnp.asarray(upper, unit.dtype)
    return lower + (upper - lower) * unit


def _choose(num_rows: int, num_points: int, key: PRNGKeyArray) -> Array:
    """Row numbers at random; each row once before any comes twice."""
    rounds = -(-num_points // num_rows)
    orders = [jax.random.permutation(k, num_rows) for k in jax.random.split(key, rounds)]
    return jnp.concatenate(orders)[:num_points]
