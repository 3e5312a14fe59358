"""Two moons, one per class."""

import numpy as np

from gfsvi.bench.data.dataset import AbstractDataset, Arrays

NUM_ROWS = 100


def _make() -> Arrays:
    from sklearn.datasets import make_moons

    x, y = make_moons(NUM_ROWS, noise=0.1, random_state=0)
    return {"X": np.asarray(x), "y": np.asarray(y)}


class TwoMoons(AbstractDataset):
    """Two interleaving half circles, from scikit-learn."""

    title = "two moons"
    source = "scikit-learn's make_moons"
    licence = "BSD-3-Clause"
    target = "the half circle"
    shape = (NUM_ROWS, 2)
    recipe = staticmethod(_make)
