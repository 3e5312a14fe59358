"""Coverage of 90 % intervals on twelve tables, and their width beside MAPIE's around one model.

python -m benchmarks.conformal --data DIR --output results/conformal.json

Needs MAPIE, which `make test-peers` installs. DIR holds tables/NAME.csv and regression/NAME.npz.
Up to 800 rows are fitted and the others, up to 2,000, are predicted, for three random divisions.
MAPIE's `SplitConformalRegressor` is given the model and the rows of conformal="split". An error is
that of the mean coverage, from the numbers of rows set aside and predicted; widths are means over
rows, divided by the standard deviation of the target.
"""

# MAPIE is not installed where types are checked.
# pyright: reportMissingImports=false

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from mapie.regression import SplitConformalRegressor

from gfsvi import GFSVIRegressor
from gfsvi.auto.conformal import rows_set_aside
from gfsvi.numerics.threads import one_thread
from gfsvi.tables import Preparation
from gfsvi.tables.reading import TableFile

TARGETS = {
    "insurance": "charges",
    "forestfires": "area",
    "bikes_daily": "cnt",
    "qsar_aquatic": "toxicity",
    "wankara": "mean_temperature",
    "treasury": "rate_1month",
    "wine_white": "quality",
    "communities": "violent_crimes",
    "skillcraft": "LeagueIndex",
    "cpu": "performance",
}
ARRAYS = ("concrete", "energy")
LEVEL, SEEDS, MOST_FITTED, MOST_PREDICTED = 0.9, 3, 800, 2000

Ends = tuple[np.ndarray, np.ndarray]


def rows_of(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and target of a table as numbers."""
    if name in ARRAYS:
        table = np.load(folder / "regression" / f"{name}.npz")
        return table["X"], table["y"].ravel()
    frame = TableFile(folder / "tables" / f"{name}.csv").frame()
    frame = frame.drop(columns=["casual", "registered"], errors="ignore")
    prepared = Preparation.learn(frame, TARGETS[name], "regression").prepare(frame)
    return prepared.x, prepared.y


def intervals(x: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int) -> dict[str, Any]:
    """Intervals of new rows by every way, and the number of rows that each was judged by."""
    split = GFSVIRegressor(conformal="split", random_state=seed).fit(x, y)
    left_out = GFSVIRegressor(conformal="left_out", random_state=seed).fit(x, y)
    aside = rows_set_aside(split, y, "regression")
    assert aside is not None
    theirs = SplitConformalRegressor(split, confidence_level=LEVEL, prefit=True)
    _, ends = theirs.conformalize(x[aside], y[aside]).predict_interval(new)
    return {
        "split": (split.predict_interval(new, LEVEL), len(aside)),
        "left_out": (left_out.predict_interval(new, LEVEL), len(x)),
        "own": (split.predict_distribution(new).interval(LEVEL), None),
        "mapie": ((ends[:, 0, 0], ends[:, 1, 0]), len(aside)),
    }


@one_thread()
def measured(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Mean coverage with its error, and mean width, by way."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(len(x))
        size = min(MOST_FITTED, int(0.7 * len(x)))
        fitted, new = order[:size], order[size : size + MOST_PREDICTED]
        for way, (ends, judged) in intervals(x[fitted], y[fitted], x[new], seed).items():
            inside = np.mean((ends[0] <= y[new]) & (y[new] <= ends[1]))
            variance = LEVEL * (1 - LEVEL) * (1 / len(new) + (1 / judged if judged else 0))
            width = np.mean(ends[1] - ends[0]) / y.std()
            found.setdefault(way, []).append((float(inside), float(width), variance))
    return {
        way: {
            "coverage": float(np.mean([c for c, _, _ in seeds])),
            "error": float(np.sqrt(np.sum([v for _, _, v in seeds])) / len(seeds)),
            "width": float(np.mean([w for _, w, _ in seeds])),
        }
        for way, seeds in found.items()
    }


def main() -> None:
    """Measure and write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder of the tables")
    parser.add_argument("--output", required=True, type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    result = {}
    for name in (*TARGETS, *ARRAYS):
        result[name] = measured(*rows_of(arguments.data, name))
        print(name, json.dumps(result[name]), flush=True)
        arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
