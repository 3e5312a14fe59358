"""What the benchmark of optimisation optimises: three functions, and two tables to look up."""

import csv
import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import qmc

NUM_GRAMS = 100
"""Features of a molecule: how often the most frequent groups of up to three characters occur."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something to be maximised, over the unit cube or over the rows of a pool.

    Args:
        name: Its name.
        value: From rows (row, feature) to values (row,).
        best: The largest value there is.
        dimension: The number of features.
        start: The number of rows at the start.
        rounds: The number of batches after that.
        pool: The rows to choose from, if they are not all of the cube.
    """

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    best: float
    dimension: int
    start: int
    rounds: int
    pool: np.ndarray | None = None

    def first(self, seed: int) -> np.ndarray:
        """The rows at the start, the same for every method."""
        random = np.random.default_rng(seed)
        if self.pool is not None:
            return self.pool[random.choice(len(self.pool), self.start, replace=False)]
        return qmc.Sobol(self.dimension, rng=random).random_base2(6)[: self.start]


def problems(folder: Path | None) -> list[Problem]:
    """All problems; those of tables only if the folder with them is given."""
    functions = [
        Problem("Branin", _branin, -0.397887, 2, 8, 8),
        Problem("Hartmann-6", _hartmann, 3.32237, 6, 16, 12),
        Problem("Ackley-10", _ackley, 0.0, 10, 24, 14),
    ]
    if folder is None:
        return functions
    switches = ("Photoswitch", "SMILES", "E isomer pi-pi* wavelength in nm")
    solubilities = ("ESOL", "smiles", "measured log solubility in mols per litre")
    return [*functions, _lookup(folder, *switches), _lookup(folder, *solubilities)]


def _branin(unit: np.ndarray) -> np.ndarray:
    x, y = 15 * unit[:, 0] - 5, 15 * unit[:, 1]
    bowl = (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2
    return -(bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


def _hartmann(x: np.ndarray) -> np.ndarray:
    heights = np.array([1.0, 1.2, 3.0, 3.2])
    widths = np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    )
    tops = 1e-4 * np.array(
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    )
    return np.exp(-np.sum(widths * (x[:, None, :] - tops) ** 2, axis=-1)) @ heights


def _ackley(unit: np.ndarray) -> np.ndarray:
    x = 65.536 * unit - 32.768 + 7.0  # the optimum is not in the middle
    root = np.sqrt(np.mean(x**2, axis=1))
    waves = np.exp(np.mean(np.cos(2 * np.pi * x), axis=1))
    return -(-20 * np.exp(-0.2 * root) - waves + 20 + np.e)


def _lookup(folder: Path, name: str, smiles: str, target: str) -> Problem:
    with (folder / "science" / f"{name}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row[smiles] and row[target]]
    texts = [row[smiles] for row in rows]
    grams = [Counter(t[i : i + n] for n in (1, 2, 3) for i in range(len(t) - n + 1)) for t in texts]
    frequent = Counter(gram for found in grams for gram in found).most_common(NUM_GRAMS)
    counts = np.array([[found[gram] for gram, _ in frequent] for found in grams], float)
    pool, first = np.unique(counts, axis=0, return_index=True)
    values = np.array([float(row[target]) for row in rows])[first]
    places = {row.tobytes(): place for place, row in enumerate(pool)}

    def value(x: np.ndarray) -> np.ndarray:
        return values[[places[np.ascontiguousarray(row).tobytes()] for row in x]]

    return Problem(name, value, float(values.max()), pool.shape[1], 20, 10, pool)
