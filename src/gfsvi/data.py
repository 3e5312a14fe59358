"""Observations: inputs and targets, row by row."""

import functools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped, UInt64

from gfsvi.numerics.printing import Printed
from gfsvi.numerics.types import AnyArray

S = TypeVar("S")


class Rows(Protocol):
    """Rows that inference adds up: all in memory, as `Data`, or read block by block."""

    @property
    def sample(self) -> "Data":
        """Rows in memory: all of them, or a random sample."""
        ...

    def __len__(self) -> int:
        """The number of all rows."""
        ...

    def added(self, of_block: "Callable[[Data], S]", size: int) -> S:
        """The sum of something that is computed from blocks of up to `size` rows."""
        ...


class Data(Printed):
    """Inputs `x` and observations `y`, one of each per point, and optionally their weights.

    A row of weight two counts like the same row twice. Sums over rows of a log-likelihood go
    through `total` and `mean`, which is where the weights enter.
    """

    x: Shaped[Array, "point *feature"]
    y: Shaped[Array, "point *output"]
    weights: Float[Array, " point"] | None = None

    if TYPE_CHECKING:  # NumPy arrays are accepted and kept as they are

        def __init__(self, x: AnyArray, y: AnyArray, weights: AnyArray | None = None) -> None: ...

    def __check_init__(self) -> None:
        if np.ndim(self.x) < 2 or np.ndim(self.y) < 1 or len(self.x) != len(self.y):
            raise ValueError(
                "Data expects x (point, feature) and y (point,) or (point, output) with as many "
                f"points; got {np.shape(self.x)} and {np.shape(self.y)}."
            )
        if self.weights is not None and np.shape(self.weights) != (len(self.x),):
            raise ValueError(
                f"Data expects one weight per point, ({len(self.x)},); got "
                f"{np.shape(self.weights)}."
            )

    def __len__(self) -> int:
        return len(self.x)

    def total(self, per_row: Float[Array, " point"]) -> Float[Array, ""]:
        """The weighted sum of one number per row."""
        return jnp.sum(per_row if self.weights is None else self.weights * per_row)

    def mean(self, per_row: Float[Array, " point"]) -> Float[Array, ""]:
        """The weighted mean of one number per row."""
        return self.total(per_row) / self.total(jnp.ones(len(self)))

    @property
    def sample(self) -> "Data":
        """All rows."""
        return self

    def blocks(self, size: int) -> "Iterator[Data]":
        """The rows in order, up to `size` of them at a time."""
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))

    def added(self, of_block: "Callable[[Data], S]", size: int) -> S:
        """The sum of something that is computed from blocks of up to `size` rows."""
        parts: Iterator[Any] = map(of_block, self.blocks(size))
        return functools.reduce(operator.add, parts)

    @property
    def row_weights(self) -> AnyArray:
        """The weights, ones where none are given."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def take(self, rows: AnyArray | slice) -> "Data":
        """The rows with these numbers."""
        return Data(
            self.x[rows], self.y[rows], None if self.weights is None else self.weights[rows]
        )

    def thinned(self, max_rows: int) -> "Data":
        """At most about `max_rows` of the rows, evenly spread."""
        return self.take(np.arange(0, len(self), 1 + len(self) // max_rows))

    def split(self, fraction: float, *, key: PRNGKeyArray) -> tuple["Data", "Data"]:
        """Two random parts, with `fraction` of the rows (at least one) in the second."""
        order = np.asarray(jax.random.permutation(key, len(self)))
        held_out = min(max(1, round(fraction * len(self))), len(self) - 1)
        return self.take(order[held_out:]), self.take(order[:held_out])

    def without_copies(self) -> "Data":
        """Each distinct row once and without weights: repeating a row adds no information."""
        first = np.unique(self._codes(), return_index=True)[1]
        bare = self if self.weights is None else Data(self.x, self.y)
        return bare if len(first) == len(self) else bare.take(np.sort(first))

    def merged(self) -> "Data":
        """Each distinct row once, with the weights of its copies added up."""
        first = np.unique(self._codes(), return_index=True)[1]
        if len(first) == len(self):
            return self
        return Data(self.x, self.y, self.weights_with_copies).take(np.sort(first))

    @property
    def weights_with_copies(self) -> Float[np.ndarray, " point"]:
        """For each row, the weights of all rows that are equal to it, itself included."""
        _, distinct = np.unique(self._codes(), return_inverse=True)
        return np.bincount(distinct, np.asarray(self.row_weights))[distinct]

    def _codes(self) -> np.ndarray:
        """A number for each row, the same for equal ones."""
        columns = [np.asarray(part, np.float64).reshape(len(self), -1) for part in (self.x, self.y)]
        return row_codes(np.concatenate(columns, axis=1))


def row_codes(rows: np.ndarray) -> UInt64[np.ndarray, " row"]:
    """A number for each row of numbers, the same for equal ones."""
    bits = np.ascontiguousarray(np.asarray(rows, np.float64)).view(np.uint64)
    # Odd factors, so that no digit is lost in the sum, which wraps around.
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64)
    return (bits * (2 * factors + 1)).sum(axis=1, dtype=np.uint64)
