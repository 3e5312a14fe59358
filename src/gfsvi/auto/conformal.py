"""Rows that are set aside, so that intervals and sets have the coverage they promise."""

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from gfsvi.auto.parameters import Parameters
from gfsvi.auto.unseen import UnseenRows, surprise_of
from gfsvi.data import Data
from gfsvi.plain.conformal import (
    adaptive_sets,
    conformal_quantile,
    interval_given,
    nominal_levels,
)
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive

if TYPE_CHECKING:
    from gfsvi.auto.fitted import Fitted

Kind = Literal["none", "split", "left_out"]
SHARE, MOST_ROWS = 0.2, 1000
"""Of the rows that are set aside."""
LEVEL = 0.95


def rows_set_aside(parameters: Parameters, y: np.ndarray, task: str) -> np.ndarray | None:
    """Positions of rows that nothing is to be learned from; a class keeps most of its rows."""
    if parameters.conformal != "split":
        return None
    order = np.random.default_rng(int(parameters.random_state)).permutation(len(y))
    if task == "regression":
        return np.sort(order[: min(int(SHARE * len(y)), MOST_ROWS)])
    _, classes = np.unique(y, return_inverse=True)
    of_class = [order[classes[order] == number] for number in range(classes.max() + 1)]
    some = np.concatenate([rows[: int(SHARE * len(rows))] for rows in of_class])
    return np.sort(np.random.default_rng(0).permutation(some)[:MOST_ROWS])


def without(aside: np.ndarray, weights: np.ndarray | None, num_rows: int) -> np.ndarray:
    """Weights of rows, zero for those that are set aside."""
    counted = np.ones(num_rows) if weights is None else np.array(weights, np.float64)
    counted[aside] = 0.0
    return counted


def with_rows_set_aside(fitted: "Fitted", aside: Data) -> "Fitted":
    """The fit, judged by rows that it never saw; labels are given as class numbers."""
    aside = aside.take(np.flatnonzero(np.asarray(aside.row_weights)))
    if len(aside) == 0:
        raise ValueError(
            'conformal="split" expects five rows or more, for labels of one class, to set some '
            'aside; got fewer. Add rows, or use conformal="left_out".'
        )
    surprise = surprise_of(fitted.predict(np.asarray(aside.x)), np.asarray(aside.y))
    unseen = UnseenRows(surprise, np.asarray(aside.row_weights, np.float64))
    return dataclasses.replace(fitted, unseen=unseen, conformal="split")


def guaranteed(fitted: "Fitted", level: float) -> "Fitted":
    """The fit with this coverage by default; raises if too few rows were set aside for it."""
    unseen = _unseen(fitted)
    nominal_levels(unseen.surprise, unseen.weights, level)
    return dataclasses.replace(fitted, level=level)


def interval_of(
    fitted: "Fitted", predictive: AbstractRealPredictive, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends that contain an observation with this probability."""
    levels = np.full(1 if predictive.mean.ndim == 1 else predictive.mean.shape[1], level)
    if fitted.conformal != "none":
        unseen = _unseen(fitted)
        levels = nominal_levels(unseen.surprise, unseen.weights, level)
    return interval_given(predictive.quantile, levels)


def set_of(fitted: "Fitted", predictive: CategoricalPredictive, level: float) -> np.ndarray:
    """Which classes are in a set that contains the label with this probability, (row, class)."""
    probabilities = np.asarray(predictive.probabilities)
    if fitted.conformal == "none":
        return adaptive_sets(probabilities, level)
    unseen = _unseen(fitted)
    return adaptive_sets(
        probabilities, conformal_quantile(unseen.surprise[:, 0], unseen.weights, level)
    )


def _unseen(fitted: "Fitted") -> UnseenRows:
    if fitted.unseen is None:
        raise ValueError(
            f"conformal={fitted.conformal!r} expects rows that the model has not seen; this method "
            'leaves none out. Fit with conformal="split".'
        )
    return fitted.unseen
