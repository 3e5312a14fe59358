"""One process that fits and predicts small tables of random shapes, and what becomes of its memory.

python -m benchmarks.long_life [--fits 3000] [--trees] [--output results/long_life.json]

Tables have 10 to 60 rows and 1 to 12 columns; targets are one number, several numbers, counts or
labels of 2 to 6 classes, and networks have 20 units. With `--trees` tables have 100 to 160 rows and
the kernel is chosen, so that trees are considered as in any default fit. Each fit is followed by
ten predictions of 1 to 300 rows. Memory is what the process holds (resident), maps are the lines of
/proc/self/maps, of which Linux allows 65,530. Seconds are those of a machine that may be busy with
something else: compare them with each other.
"""

import argparse
import json
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.auto.quality import PoorFitWarning
from gfsvi.numerics.threads import one_thread

NUM_PREDICTIONS = 10
EARLY, WINDOW = 300, 100
"""Memory is compared with that after so many fits, and times over so many."""
LIMIT = 1.3
"""The largest ratio of memory at the end to that after the first few hundred fits."""
SMALL = {"hidden": (20,), "num_steps": 20, "kernel": "rbf", "random_state": 0}
"""A fit of a fraction of a second; the stages are those of any other."""
WITH_TREES = {"hidden": (20,), "num_steps": 20, "random_state": 0}
FEW_ROWS, ROWS_FOR_TREES = (10, 60), (100, 160)
KINDS = ("number", "number", "numbers", "counts", "labels")


def made(random: np.random.Generator, rows: tuple[int, int]) -> tuple[str, np.ndarray, np.ndarray]:
    """A kind of target, and a table with one, of so many rows."""
    kind, (fewest, most) = str(random.choice(KINDS)), rows
    num_rows, num_columns = int(random.integers(fewest, most + 1)), int(random.integers(1, 13))
    x = random.normal(size=(num_rows, num_columns))
    signal = np.sin(x @ random.normal(size=num_columns))
    if kind == "number":
        return kind, x, signal + 0.1 * random.normal(size=num_rows)
    if kind == "numbers":
        num_targets = int(random.integers(2, 5))
        return kind, x, signal[:, None] + 0.3 * random.normal(size=(num_rows, num_targets))
    if kind == "counts":
        return kind, x, random.poisson(2 * np.exp(signal)).astype(float)
    num_classes = int(random.integers(2, 7))
    labels = np.digitize(signal, np.linspace(-1, 1, num_classes + 1)[1:-1])
    labels[:2] = 0, 1
    return kind, x, labels


def one_life(num_fits: int, seed: int, *, trees: bool) -> dict[str, Any]:
    """Fit and predict, and note time, memory and maps after every fit."""
    random = np.random.default_rng(seed)
    seconds, mebibytes, maps, failures = [], [], [], []
    rows_of_table, settings = (ROWS_FOR_TREES, WITH_TREES) if trees else (FEW_ROWS, SMALL)
    for number in range(num_fits):
        kind, x, y = made(random, rows_of_table)
        estimator = (GFSVIClassifier if kind == "labels" else GFSVIRegressor)(**settings)
        began = time.perf_counter()
        try:
            estimator.fit(x, y)
            seconds.append(time.perf_counter() - began)
            for _ in range(NUM_PREDICTIONS):
                rows = random.normal(size=(int(random.integers(1, 301)), x.shape[1]))
                predicted = np.asarray(estimator.predict(rows))
                if len(predicted) != len(rows) or not np.all(np.isfinite(predicted)):
                    raise AssertionError("predictions that are missing or not finite")
        except Exception as error:
            failures.append(f"fit {number}, {kind} {x.shape}: {type(error).__name__}: {error}")
        mebibytes.append(resident_mebibytes())
        maps.append(num_maps())
        if (number + 1) % WINDOW == 0:
            told = f"{number + 1} fits, {mebibytes[-1]:.0f} MiB, {maps[-1]} maps"
            print(f"{told}, {np.median(seconds[-WINDOW:]):.2f} s per fit", flush=True)
    return summary(np.array(seconds), np.array(mebibytes), np.array(maps), failures)


def summary(
    seconds: np.ndarray, mebibytes: np.ndarray, maps: np.ndarray, failures: list[str]
) -> dict[str, Any]:
    """What the issue asks of a long life, and the course of memory and maps."""
    early = min(EARLY, len(mebibytes)) - 1
    every = slice(WINDOW - 1, None, WINDOW)
    second = seconds[WINDOW : 2 * WINDOW] if len(seconds) >= 2 * WINDOW else seconds
    return {
        "fits": len(mebibytes),
        "predictions": NUM_PREDICTIONS * len(mebibytes),
        "failures": failures,
        "memory_ratio": float(mebibytes[-1] / mebibytes[early]),
        "memory_limit": LIMIT,
        "maps_ratio": float(maps[-1] / maps[early]),
        "seconds_second_hundred": float(np.median(second)),
        "seconds_last_hundred": float(np.median(seconds[-WINDOW:])),
        "mebibytes": [round(float(value)) for value in mebibytes[every]],
        "maps": [int(value) for value in maps[every]],
        "seconds": [
            round(float(np.median(seconds[i : i + WINDOW])), 3)
            for i in range(0, len(seconds), WINDOW)
        ],
    }


def resident_mebibytes() -> float:
    """The memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def num_maps() -> int:
    """The number of memory maps of this process."""
    return Path("/proc/self/maps").read_text().count("\n")


def main() -> int:
    """Live, print the course, write the summary; 1 if a fit or prediction failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=3000)
    parser.add_argument(
        "--trees", action="store_true", help="tables for which trees are considered"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", PoorFitWarning)
    with one_thread():
        found = one_life(arguments.fits, arguments.seed, trees=arguments.trees)
    print(json.dumps({name: value for name, value in found.items() if np.ndim(value) == 0}))
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    return int(bool(found["failures"]))


if __name__ == "__main__":
    raise SystemExit(main())
