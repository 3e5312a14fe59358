"""What was observed at rows that a model had not seen, beside what it predicted there."""

import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import Array, Float
from scipy import special

from gfsvi.predictives.base import (
    AbstractPredictive,
    AbstractRealPredictive,
    Cumulative,
    Observed,
)
from gfsvi.predictives.categorical import CategoricalPredictive

LARGEST = 8.0
"""Further out, the normal distribution function cannot be told from one."""
STEP = 0.005
LEVELS_AT_A_TIME = 400
ROUNDING = 1e-9
"""In standard deviations: an observation that is so close to the end of an interval is inside."""


@dataclasses.dataclass(frozen=True)
class UnseenRows:
    """How surprising observations were, and how often each counts.

    Args:
        surprise: For numbers, the half-width in standard deviations of the narrowest normal
            interval whose probability gives a central interval that contains the observation. For
            labels, the probability of all classes that are at least as probable as the observed.
        weights: How often each row counts.
    """

    surprise: Float[np.ndarray, "row output"]
    weights: Float[np.ndarray, " row"]

    def __post_init__(self) -> None:
        if np.isnan(self.surprise).any() or not np.all(self.weights > 0):
            raise ValueError("surprises that are no numbers, or weights that are not positive")

    @property
    def size(self) -> float:
        """The number of rows; fewer than there are if their weights differ."""
        return float(np.sum(self.weights) ** 2 / np.sum(self.weights**2))

    def p_values(self, surprise: Float[np.ndarray, "new output"]) -> Float[np.ndarray, " new"]:
        """The share of unseen rows that were at least as surprising, by the worst output.

        Uniform if the new rows are like the unseen ones, and small if they are not.
        """
        own, new = (_joint(values, self.surprise) for values in (self.surprise, surprise))
        order = np.argsort(own)
        counted = np.concatenate([[0.0], np.cumsum(self.weights[order])])
        below = counted[np.searchsorted(own[order], new)]
        heaviest = self.weights.max()
        return (counted[-1] - below + heaviest) / (counted[-1] + heaviest)


def _joint(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """One number per row: the largest of the shares of the reference that are less surprising."""
    if reference.shape[1] == 1:
        return values[:, 0]
    columns = zip(values.T, reference.T, strict=True)
    return np.max([np.searchsorted(np.sort(known), own) for own, known in columns], axis=0)


def surprise_of(predictive: AbstractPredictive, y: np.ndarray) -> Float[np.ndarray, "row output"]:
    """How surprising observations are: numbers, or labels given as class numbers."""
    if isinstance(predictive, CategoricalPredictive):
        return _of_labels(np.asarray(predictive.probabilities), y)
    if not isinstance(predictive, AbstractRealPredictive):
        raise TypeError(f"expected predictions of numbers or labels; got {type(predictive)}")
    y = np.asarray(y, np.float64).reshape(len(y), -1)
    widths = np.arange(0, LARGEST, STEP)
    if isinstance(predictive, Cumulative):
        exact = _exact_surprise(predictive.cdf, predictive.std, y)
        return np.append(widths, np.inf)[np.searchsorted(widths, exact)]
    too_narrow = np.zeros(y.shape, int)
    for start in range(0, len(widths), LEVELS_AT_A_TIME):
        some = widths[start : start + LEVELS_AT_A_TIME]
        ends = special.ndtr([-some, some])
        lower, upper = np.asarray(predictive.quantile(ends.ravel())).reshape(*ends.shape, *y.shape)
        outside = ((y < lower) | (upper < y)).sum(axis=0)
        too_narrow += outside
        if not outside.any():
            break
    return np.append(widths, np.inf)[too_narrow]


def _exact_surprise(cdf: Callable[[np.ndarray], Array], std: Observed, y: np.ndarray) -> np.ndarray:
    """The same by the distribution function, whose jumps belong to the interval."""
    observed, margin = y.reshape(np.shape(std)), ROUNDING * np.asarray(std)
    below, until = (np.asarray(cdf(observed + sign * margin)).reshape(y.shape) for sign in (-1, 1))
    with np.errstate(divide="ignore"):
        return np.maximum(np.maximum(special.ndtri(below), -special.ndtri(until)), 0)


def _of_labels(probabilities: np.ndarray, y: np.ndarray) -> np.ndarray:
    own = np.take_along_axis(probabilities, np.asarray(y, int)[:, None], axis=1)
    return np.sum(np.where(probabilities >= own, probabilities, 0.0), axis=1, keepdims=True)
