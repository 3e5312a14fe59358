"""Cluster centres: a few points that represent many rows."""

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gfsvi.numerics.types import Points

MAX_ROWS = 10_000
MAX_ROUNDS = 20


def cluster_centres(
    x: Points, num_centres: int, *, key: PRNGKeyArray
) -> Float[np.ndarray, "centre *feature"]:
    """Centres of `x` by Lloyd's k-means; its distinct rows if there are no more than that."""
    rows = np.asarray(x, np.float64)
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    shape = rows.shape[1:]
    rows = rows.reshape(len(rows), -1)
    if len(rows) > MAX_ROWS:
        rows = rows[np.sort(random.choice(len(rows), MAX_ROWS, replace=False))]
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= num_centres:
        return distinct.reshape(-1, *shape)
    centres = _spread_rows(distinct, num_centres, random)
    return _lloyd(rows, centres).reshape(-1, *shape)


def _spread_rows(rows: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Rows drawn in turn, with probabilities that grow with distance to those drawn (k-means++)."""
    chosen = [int(random.integers(len(rows)))]
    distances = np.full(len(rows), np.inf)
    for _ in range(count - 1):
        distances = np.minimum(distances, np.sum((rows - rows[chosen[-1]]) ** 2, axis=1))
        chosen.append(int(random.choice(len(rows), p=distances / distances.sum())))
    return rows[chosen]


def _lloyd(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    for _ in range(MAX_ROUNDS):
        nearest = np.argmin(np.sum(centres**2, axis=1) - 2 * rows @ centres.T, axis=1)
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, rows)
        # A centre without nearest rows stays where it is.
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres
