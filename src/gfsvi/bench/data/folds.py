"""The paper's protocol: five folds, a tenth of the other rows for validation, standardised."""

import numpy as np

from gfsvi.data import Data
from gfsvi.numerics.batching import spreads

NUM_FOLDS = 5


def fold_of(x: np.ndarray, y: np.ndarray, fold: int) -> tuple[Data, Data, Data]:
    """Training, validation and test rows, standardised by the training rows."""
    is_test = rows_of_test(y, fold)
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    order = np.random.default_rng(fold).permutation(train)
    held_out, train = order[: len(order) // 10], order[len(order) // 10 :]
    x = standardized_like(x, x[train])
    y = standardized_like(y, y[train])
    return Data(x[train], y[train]), Data(x[held_out], y[held_out]), Data(x[test], y[test])


def rows_of_test(y: np.ndarray, fold: int, *, stratified: bool = False) -> np.ndarray:
    """Mark the test rows of a fold; if stratified, every class has its share of them."""
    # Slow to import, and finding tasks by name should be fast.
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if stratified else KFold
    folds = kind(NUM_FOLDS, shuffle=True, random_state=0).split(y, y)
    is_test = np.zeros(len(y), bool)
    is_test[list(folds)[fold][1]] = True
    return is_test


def standardized_like(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Values standardised by the mean and spread of other rows; constant columns become zero."""
    return (values - like.mean(axis=0)) / spreads(like)
