"""The paper's sine, with a gap between the observations."""

import numpy as np

from gfsvi.bench.data.dataset import AbstractDataset, Arrays

NUM_ROWS = 100


def _make() -> Arrays:
    random = np.random.default_rng(0)
    side = np.repeat([-1.0, 1.0], NUM_ROWS // 2)
    x = side * random.uniform(0.5, 1, NUM_ROWS)
    noise = random.normal(size=NUM_ROWS)
    f = np.sin(2 * np.pi * x)
    return {"X": x[:, None], "f": f, "noise": noise, "y": f + 0.1 * noise}


class Sine(AbstractDataset):
    """Values of sin(2 pi x) on [-1, -1/2] and [1/2, 1], with noise of unit variance to add."""

    title = "sine"
    source = "generated as in the paper's appendix on synthetic data"
    licence = "none needed"
    target = "sin(2 pi x) + noise"
    shape = (NUM_ROWS, 1)
    recipe = staticmethod(_make)
