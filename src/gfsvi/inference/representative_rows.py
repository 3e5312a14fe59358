"""Training inputs as measurement points: all of them, or some that represent all."""

import warnings

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray
from scipy.cluster.vq import kmeans2, vq

from gfsvi.functions.base import correlation_lengths
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.mean_fit import draw_points
from gfsvi.numerics.randomness import folded, generator
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints, FixedPoints, Mixture, UniformBox

MAX_CANDIDATES = 10_000
"""Rows to choose from, drawn at random if there are more."""
NUM_ROUNDS = 5


def further_points(
    points: AbstractPoints, x: Points, *, key: PRNGKeyArray
) -> Float[np.ndarray, "point *feature"]:
    """Draw measurement points around rows; those of a uniform box, and given ones, in NumPy."""
    bound = points.bind(x)
    if isinstance(bound, Mixture):
        parts = enumerate(bound.parts)
        drawn = [further_points(part, x, key=folded(key, number)) for number, part in parts]
        return np.concatenate(drawn)
    if isinstance(bound, FixedPoints):
        return np.asarray(bound.x, np.float64)
    if not isinstance(bound, UniformBox):
        return np.asarray(draw_points(bound, jnp.asarray(x), key), np.float64)
    random = generator(key)
    lower, upper = np.asarray(bound.lower, np.float64), np.asarray(bound.upper, np.float64)
    return random.uniform(lower, upper, size=(bound.num_points, *lower.shape))


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster is one point less
        centres, _ = kmeans2(rows, rows[:count], iter=NUM_ROUNDS, minit="matrix", missing="warn")
    return np.sort(np.unique(candidates[vq(centres, rows)[0]]))
