"""Separation of unusual rows from ordinary held-out rows by novelty.

python -m benchmarks.novelty --data DIR --json

DIR holds regression/boston.npz with arrays X and y; LSTAT is the last column of X.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from gfsvi import GFSVIRegressor


def separation(x: np.ndarray, y: np.ndarray, unusual: np.ndarray, seed: int) -> float:
    """AUC of unusual rows against a held-out fifth of the others, trained on the rest."""
    train, ordinary = train_test_split(np.flatnonzero(~unusual), test_size=0.2, random_state=seed)
    regressor = GFSVIRegressor(random_state=seed).fit(x[train], y[train])
    rows = np.concatenate([ordinary, np.flatnonzero(unusual)])
    return float(roc_auc_score(unusual[rows], regressor.novelty(x[rows])))


def smallest_far_away(x: np.ndarray, y: np.ndarray, seed: int, num_rows: int = 200) -> float:
    """Smallest novelty of rows whose features all lie three ranges outside the data."""
    low, high = x.min(axis=0), x.max(axis=0)
    distance = 3 * (high - low)
    above = np.random.default_rng(seed).random((num_rows, x.shape[1])) < 0.5
    above[:2] = [[True], [False]]
    far = np.where(above, high + distance, low - distance)
    regressor = GFSVIRegressor(random_state=seed).fit(x, y)
    return float(np.min(regressor.novelty(far)))


def main() -> None:
    """Print the three figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--seed", type=int, default=0, help="seed of the split and the fits")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    table = np.load(arguments.data / "regression" / "boston.npz")
    x, y, seed = table["X"], table["y"], arguments.seed
    result = {
        "auc_dearest_tenth": separation(x, y, y > np.quantile(y, 0.9), seed),
        "auc_highest_lstat": separation(x, y, x[:, -1] > np.quantile(x[:, -1], 0.85), seed),
        "smallest_three_ranges_outside": smallest_far_away(x, y, seed),
    }
    print(json.dumps(result) if arguments.json else result)


if __name__ == "__main__":
    main()
