"""Observations: inputs and targets, row by row."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray, Shaped


class Data(eqx.Module):
    """Inputs `x` and observations `y`, one of each a point."""

    x: Shaped[Array, "point *feature"]
    y: Shaped[Array, "point *output"]

    def __check_init__(self) -> None:
        if np.ndim(self.x) < 2 or np.ndim(self.y) < 1 or len(self.x) != len(self.y):
            raise ValueError(
                "Data expects x (point, feature) and y (point,) or (point, output) with as many "
                f"points; got {np.shape(self.x)} and {np.shape(self.y)}."
            )

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Array) -> "Data":
        """The named rows."""
        return Data(self.x[rows], self.y[rows])

    def split(self, fraction: float, *, key: PRNGKeyArray) -> tuple["Data", "Data"]:
        """Two parts at random, `fraction` of the rows (at least one) in the second."""
        order = np.asarray(jax.random.permutation(key, len(self)))
        held_out = min(max(1, round(fraction * len(self))), len(self) - 1)
        return self.take(order[held_out:]), self.take(order[:held_out])

    def without_copies(self) -> "Data":
        """Each row once: one that stands there again, to the last digit, says nothing new."""
        columns = [np.asarray(part, np.float64).reshape(len(self), -1) for part in (self.x, self.y)]
        bits = np.ascontiguousarray(np.concatenate(columns, axis=1)).view(np.uint64)
        # Odd factors, so that no digit is lost in the sum, which wraps around.
        factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64)
        codes = (bits * (2 * factors + 1)).sum(axis=1, dtype=np.uint64)
        first = np.unique(codes, return_index=True)[1]
        return self if len(first) == len(self) else self.take(np.sort(first))
