"""Scores of classes by boosted trees, for rows that these have not seen and for all others."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gfsvi.functions.tree_mean import TreeMean
from gfsvi.prior_means.conversion import score_means
from gfsvi.prior_means.folds import folds_of
from gfsvi.prior_means.threads import one_thread_of_trees


class CrossFittedScores(NamedTuple):
    """Scores (row, column) of rows that trees have not seen, and the trees for all others."""

    values: np.ndarray
    columns: tuple[TreeMean, ...]


def cross_fitted_scores(
    x: np.ndarray,
    labels: np.ndarray,
    num_classes: int,
    weights: np.ndarray | None = None,
    *,
    seed: int,
    is_over: Callable[[], bool] | None = None,
) -> CrossFittedScores | None:
    """Log odds of two classes, or one score per class, of mean zero and variance one.

    Returns:
        The scores; None if a class has too few rows or the time is over.
    """
    with one_thread_of_trees(len(x)):
        return _scores(np.asarray(x, np.float32), labels, num_classes, weights, seed, is_over)


def _scores(
    x: np.ndarray,
    labels: np.ndarray,
    num_classes: int,
    weights: np.ndarray | None,
    seed: int,
    is_over: Callable[[], bool] | None,
) -> CrossFittedScores | None:
    folds = folds_of(x, seed=seed)
    values = np.zeros((len(x), 1 if num_classes == 2 else num_classes))
    if any(len(np.unique(labels[folds != fold])) < num_classes for fold in np.unique(folds)):
        return None
    for fold in np.unique(folds):
        kept, rest = folds != fold, folds == fold
        if is_over is not None and is_over():
            return None
        given = None if weights is None else weights[kept]
        fitted = _boosted(seed).fit(x[kept], labels[kept], sample_weight=given)
        values[rest] = fitted.decision_function(x[rest]).reshape(-1, values.shape[1])
    centre, spread = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    whole = _boosted(seed).fit(x, labels, sample_weight=weights)
    columns = tuple(
        mean.rescaled(1 / s, -c / s)
        for mean, c, s in zip(score_means(whole), centre, spread, strict=True)
    )
    return CrossFittedScores((values - centre) / spread, columns)


def _boosted(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.06,
        max_leaf_nodes=16,
        min_samples_leaf=10,
        l2_regularization=1.0,
        random_state=seed,
    )
