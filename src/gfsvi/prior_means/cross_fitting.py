"""Fit regressors so that no row is predicted by one that has seen it."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from gfsvi.functions.means import AbstractMean
from gfsvi.prior_means.conversion import as_mean_function
from gfsvi.prior_means.folds import folds_of
from gfsvi.prior_means.threads import one_thread_of_trees


class CrossFitted(NamedTuple):
    """Predictions of rows by regressors that have not seen them, and the mean for all others."""

    values: np.ndarray
    mean: AbstractMean


def cross_fitted(
    regressors: list[Any],
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    seed: int,
    is_over: Callable[[], bool] | None = None,
) -> CrossFitted | None:
    """The average of regressors: for each row, of copies that were fitted without its fold.

    Args:
        regressors: Regressors of scikit-learn, which stay as they are.
        x: Rows of numbers.
        y: One number per row.
        weights: How often each row counts.
        seed: Determines the folds.
        is_over: Asked whether the time is over.

    Returns:
        The predictions; None if the time is over before all regressors are fitted.
    """
    from sklearn import config_context

    # In single precision, in which trees compare: rows fall on the same side ever after.
    x = np.asarray(x, np.float32)
    folds, values = folds_of(x, seed=seed), np.zeros((len(x), len(regressors)))
    for fold in np.unique(folds):
        # What the first fit has found right need not be looked at again, for every tree.
        is_first = fold == folds.min()
        kept, rest = folds != fold, folds == fold
        given = None if weights is None else weights[kept]
        for number, regressor in enumerate(regressors):
            if is_over is not None and is_over():
                return None
            with config_context(skip_parameter_validation=not is_first):
                fitted = _fitted(regressor, x[kept], y[kept], given)
            with one_thread_of_trees(len(x)):
                values[rest, number] = fitted.predict(x[rest])
    if is_over is not None and is_over():
        return None
    with config_context(skip_parameter_validation=True):
        whole = [_fitted(regressor, x, y, weights) for regressor in regressors]
    return CrossFitted(values.mean(axis=1), as_mean_function(whole))


def _fitted(regressor: Any, x: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> Any:
    from sklearn.base import clone

    given = {} if weights is None else {"sample_weight": weights}
    with one_thread_of_trees(len(x)):
        return cast(Any, clone(regressor)).fit(x, y, **given)
