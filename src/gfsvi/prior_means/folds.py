"""Which rows are predicted by a model that has not seen them."""

import numpy as np

from gfsvi.data import row_codes

NUM_FOLDS = 5


def folds_of(x: np.ndarray, *, seed: int, num_folds: int = NUM_FOLDS) -> np.ndarray:
    """The number of each row's fold; rows with equal inputs are in the same one."""
    distinct = np.unique(row_codes(x), return_inverse=True)[1].ravel()
    order = np.random.default_rng(seed).permutation(distinct.max() + 1)
    return order[distinct] % num_folds
