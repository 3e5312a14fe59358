"""Intervals and sets with a promised coverage, from how surprising rows were that were not seen."""

import math
from collections.abc import Callable

import numpy as np

LARGEST_LEVEL = 1 - 2e-15


def conformal_quantile(scores: np.ndarray, weights: np.ndarray, level: float) -> float:
    """What the score of a new row does not exceed with probability `level`.

    The row itself counts as one more of infinite score, so that this holds for any number of rows,
    if they and the new row could have come in any order; infinite if the rows are too few.
    """
    order = np.argsort(scores)
    reached = np.cumsum(weights[order])
    needed = level * (reached[-1] + weights.max()) * (1 - 1e-12)
    place = int(np.searchsorted(reached, needed))
    return float(scores[order][place]) if place < len(scores) else math.inf


def nominal_levels(surprise: np.ndarray, weights: np.ndarray, level: float) -> np.ndarray:
    """The level, for each output, whose central intervals contain a new row with this probability.

    Args:
        surprise: (row, output), in standard deviations of a normal distribution.
        weights: (row,).
        level: The promised coverage.
    """
    size = weights.sum() / weights.max()
    if level * (size + 1) > size + 1e-9:
        needed = math.ceil(round(level / (1 - level), 6))
        raise ValueError(
            f"a coverage of {level:.4g} expects at least {needed} "
            f"rows to judge by; got {len(weights)}. Ask for less, or fit more rows."
        )
    widths = [conformal_quantile(scores, weights, level) for scores in surprise.T]
    return np.minimum([math.erf(width / math.sqrt(2)) for width in widths], LARGEST_LEVEL)


def interval_given(
    quantile: Callable[[float], np.ndarray], levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Central intervals, of several outputs each at its own level.

    Args:
        quantile: Quantiles of the predictions, (row,) or (row, output).
        levels: One per output.
    """

    def ends(tails: np.ndarray) -> np.ndarray:
        found = [np.asarray(quantile(float(tail))) for tail in tails]
        if len(found) == 1:
            return found[0]
        return np.stack([values[:, number] for number, values in enumerate(found)], axis=1)

    return ends((1 - levels) / 2), ends((1 + levels) / 2)


def adaptive_sets(probabilities: np.ndarray, threshold: float) -> np.ndarray:
    """Which classes are in the set of each row, (row, class): the most probable always is.

    A class is in if all classes that are at least as probable have together at most the threshold.
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=1)
    # Ties count together, as they do in the score of a label.
    total = np.array([[row[row >= p].sum() for p in row] for row in ranked])
    inside = np.empty_like(total, bool)
    np.put_along_axis(inside, order, total <= threshold * (1 + 1e-12), axis=1)
    np.put_along_axis(inside, order[:, :1], True, axis=1)
    return inside
