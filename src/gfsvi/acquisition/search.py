"""Search a pool or a space for the row that an acquisition function likes best."""

import numpy as np

from gfsvi.acquisition.base import Scores, State
from gfsvi.acquisition.pool import Pool
from gfsvi.acquisition.space import Space

NUM_SPREAD = 1024
"""Rows spread over the space at first; a power of two."""
NUM_BEST, NUM_NEAR = 5, 48
"""The rows around which others are tried, and how many around each."""
WIDTHS = (0.2, 0.06, 0.02, 0.006, 0.002)
"""How far away these are, in shares of a column's range, one round after the other."""


def best_of_pool(pool: Pool, known: np.ndarray, state: State, scores: Scores) -> int:
    """The place of the best row of a pool that has neither been measured nor chosen."""
    fresh = np.flatnonzero(_are_fresh(pool.rows, known, state.pending))
    if not len(fresh):
        raise ValueError(
            "suggesting expects candidates that have not been measured yet; got none. Add rows to "
            "the pool, or ask for a smaller batch."
        )
    return int(fresh[np.argmax(scores(pool.rows[fresh]))])


def best_of_space(space: Space, known: np.ndarray, state: State, scores: Scores) -> np.ndarray:
    """The place of the best row of a space that has neither been measured nor chosen.

    First rows all over the space and around the best ones that are known, then rows nearer and
    nearer to the best ones found.
    """
    random = state.random
    means, _ = state.surrogate.marginals(known)
    around = space.places(known[np.argsort(-means)[:NUM_BEST]])
    starts = [space.near(around, NUM_NEAR, width, random) for width in WIDTHS[:2]]
    places = np.concatenate([space.spread(NUM_SPREAD, random), *starts])
    values = _valued(space, places, known, state, scores)
    for width in WIDTHS:
        centres = places[np.argsort(-values)[:NUM_BEST]]
        nearby = space.near(centres, NUM_NEAR, width, random)
        found = _valued(space, nearby, known, state, scores)
        places, values = np.concatenate([places, nearby]), np.concatenate([values, found])
    if np.max(values) == -np.inf:
        raise ValueError(
            "suggesting expects rows within the bounds that have not been measured yet; got none. "
            "Widen the bounds, or ask for a smaller batch."
        )
    return places[np.argmax(values)]


def _valued(
    space: Space, places: np.ndarray, known: np.ndarray, state: State, scores: Scores
) -> np.ndarray:
    """The scores of places; no row is worth measuring twice."""
    rows = space.rows(places)
    values = np.full(len(rows), -np.inf)
    # Steps and categories send many places to one row, whose score is computed once.
    _, first = np.unique(rows, axis=0, return_index=True)
    first = first[_are_fresh(rows[first], known, state.pending)]
    if len(first):
        values[first] = scores(rows[first])
    return values


def _are_fresh(rows: np.ndarray, known: np.ndarray, pending: np.ndarray) -> np.ndarray:
    """Which rows are neither known nor pending, up to rounding."""
    taken = np.concatenate([known, pending]) if len(pending) else known
    unit = np.maximum(np.ptp(known, axis=0), 1e-12)
    seen = {row.tobytes() for row in _rounded(taken / unit)}
    return np.array([row.tobytes() not in seen for row in _rounded(rows / unit)], bool)


def _rounded(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.round(rows, 6) + 0.0)  # no negative zeros
