"""Rows learned one by one: seconds, agreement with learning at once, and the signal to fit again.

python -m benchmarks.updates --data DIR --output results/updates.json

Milliseconds are those of the processor, one thread, so that other load does not count.

DIR holds regression/NAME.npz with arrays X and y, and science/co2.csv with columns date and co2.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np

from gfsvi import Data, GFSVIRegressor, condition_on
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.numerics.threads import one_thread

TABLES = ("concrete", "energy", "kin8nm", "power", "wine")
NUM_POINTS, NUM_ROWS = 450, 1000
"""With 50 points around the rows, a fit to so many rows has 500 measurement points."""
STREAM = 500

Table = tuple[np.ndarray, np.ndarray]


@one_thread()
def timed(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Learn a thousand rows, one by one and at once."""
    rows, rest = slice(0, NUM_POINTS), slice(NUM_POINTS, NUM_POINTS + NUM_ROWS)
    estimator = GFSVIRegressor(prior_mean=None, random_state=0).fit(x[rows], y[rows])
    data = estimator.fitted_.standardized_data(x[rest], y[rest])
    first = last = estimator.posterior_
    posterior, partial_fit = [], []
    for row in range(len(data)):
        began = time.process_time()
        last = condition_on(last, data.take(np.array([row])))
        posterior.append(time.process_time() - began)
    for row in range(NUM_POINTS, NUM_POINTS + len(data)):
        began = time.process_time()
        estimator.partial_fit(x[row : row + 1], y[row : row + 1])
        partial_fit.append(time.process_time() - began)
    return {
        "points": len(cast(ConjugateNetwork, last.function).points),
        "rows": len(data),
        "condition_on_ms": _milliseconds(posterior),
        "partial_fit_ms": _milliseconds(partial_fit),
        "difference": _difference(last, condition_on(first, data), data),
    }


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    return {
        "median": 1e3 * float(np.median(seconds)),
        "99 %": 1e3 * float(np.quantile(seconds, 0.99)),
    }


def _difference(model: Any, other: Any, data: Data) -> float:
    """The largest difference of means and standard deviations, in those of the target."""
    one, two = (m.predict(np.asarray(data.x)) for m in (model, other))
    return max(float(np.abs(getattr(one, k) - getattr(two, k)).max()) for k in ("mean", "std"))


@one_thread()
def streamed(x: np.ndarray, y: np.ndarray, order: np.ndarray) -> dict[str, Any]:
    """Fit the first part of rows in this order, learn the others, and say when a signal came."""
    begin = min(len(x) * 6 // 10, 1000)
    order = order[: begin + STREAM]
    first, rest = order[:begin], order[begin:]
    estimator = GFSVIRegressor(prior_mean=None, random_state=0).fit(x[first], y[first])
    for number, row in enumerate(rest):
        estimator.partial_fit(x[[row]], y[[row]])
        if estimator.needs_retraining_:
            return {"fitted": begin, "learned": len(rest), "signal_after": number + 1}
    return {"fitted": begin, "learned": len(rest), "signal_after": None}


def _orders(x: np.ndarray, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Rows at random, and sorted by the feature that varies most between them."""
    levels = [len(np.unique(column)) for column in x.T]
    ties = random.permutation(len(x))
    by_feature = ties[np.argsort(x[ties, int(np.argmax(levels))], kind="stable")]
    return {"shuffled": random.permutation(len(x)), "sorted": by_feature}


def _tables(folder: Path) -> dict[str, Table]:
    tables = {}
    for name in TABLES:
        table = np.load(folder / "regression" / f"{name}.npz")
        tables[name] = (table["X"], table["y"].ravel())
    dates, values = np.genfromtxt(folder / "science" / "co2.csv", delimiter=",", skip_header=1).T
    days = np.array(
        [
            np.datetime64(f"{int(d) // 10000}-{int(d) // 100 % 100:02d}-{int(d) % 100:02d}")
            for d in dates
        ]
    )
    known = np.isfinite(values)
    years = (days - days[0]).astype(float) / 365.25
    tables["co2"] = (years[known, None], values[known])
    return tables


def main() -> None:
    """Measure and write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder of the tables")
    parser.add_argument("--output", required=True, type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables, streams = _tables(arguments.data), {}
    random = np.random.default_rng(0)
    for name, (x, y) in tables.items():
        for kind, order in _orders(x, random).items():
            streams[f"{name}, {kind}"] = streamed(x, y, order)
            print(name, kind, streams[f"{name}, {kind}"], flush=True)
    x, y = tables["kin8nm"]
    result = {"one by one": timed(x, y), "streams": streams}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["one by one"]))


if __name__ == "__main__":
    main()
