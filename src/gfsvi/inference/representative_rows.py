"""Training inputs as measurement points: all of them, or some that represent all."""

import numpy as np
from jaxtyping import Float
from scipy.cluster.vq import kmeans2, vq

from gfsvi.functions.base import correlation_lengths
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.numerics.types import Points

MAX_CANDIDATES = 10_000
"""Rows to choose from, drawn at random if there are more."""
NUM_ROUNDS = 5


def points_with_rows(
    prior: GaussianProcess, x: Points, further: Points, max_rows: int
) -> Float[np.ndarray, "point *feature"]:
    """Distinct measurement points: up to `max_rows` rows of `x`, and further points."""
    rows = np.asarray(x, np.float64)
    if len(rows) > max_rows:
        rows = rows[representative_rows(prior, rows, max_rows)]
    return np.unique(np.concatenate([rows, np.asarray(further, np.float64)]), axis=0)


def representative_rows(prior: GaussianProcess, x: Points, count: int) -> np.ndarray:
    """Positions of up to `count` rows that are close to all others, as the prior sees distance.

    The rows nearest to the centres of a k-means clustering, with each feature in units of the
    length over which the prior is correlated.
    """
    random = np.random.default_rng(0)
    candidates = random.permutation(len(x))[: max(MAX_CANDIDATES, count)]
    rows = np.asarray(x, np.float64)[candidates]
    if rows.ndim == 2:
        rows = rows / np.asarray(correlation_lengths(prior, x))
    rows = rows.reshape(len(rows), -1)
    centres, _ = kmeans2(rows, rows[:count], iter=NUM_ROUNDS, minit="matrix", missing="warn")
    return np.sort(np.unique(candidates[vq(centres, rows)[0]]))
