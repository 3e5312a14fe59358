"""The regressor with its defaults on tables, beside what users would pick instead.

python -m benchmarks.estimators --data DIR boston yacht --output results/estimators.jsonl

DIR holds regression/NAME.npz with arrays X and y. Five folds of KFold(5, shuffle=True,
random_state=0); scores on the target standardised by the training rows. One line of JSON a fold
is appended as it comes; folds that are there already are skipped.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from gfsvi import GFSVIRegressor
from gfsvi.cli.evaluate import evaluated


def run(x: np.ndarray, y: np.ndarray, fold: int) -> dict[str, Any]:
    """Fit four fifths and score the last."""
    train, test = list(KFold(5, shuffle=True, random_state=0).split(x))[fold]
    start = time.perf_counter()
    regressor = GFSVIRegressor(random_state=fold).fit(x[train], y[train])
    seconds = time.perf_counter() - start
    suffix = "_standardized"
    scores = evaluated(regressor, x[test], y[test])
    return {
        **{name.removesuffix(suffix): scores[name] for name in scores if name.endswith(suffix)},
        "kernel": type(regressor.prior_.function.kernel).__name__,
        "likelihood": type(regressor.posterior_.likelihood).__name__,
        "noise": float(np.mean(regressor.posterior_.likelihood.noise)),
        "best_step": regressor.history_.best_step,
        "warnings": [d.name for d in regressor.diagnostics_ if d.severity == "warning"],
        "seconds": seconds,
    }


def main() -> None:
    """Run what is missing and print means with standard errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="tables, for example boston yacht")
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--output", required=True, type=Path, help="records, one line a fold")
    parser.add_argument("--folds", type=int, default=5, help="how many of the five")
    arguments = parser.parse_args()
    path = arguments.output
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for fold in range(arguments.folds):
        for name in arguments.names:
            if any(r["dataset"] == name and r["fold"] == fold for r in records):
                continue
            table = np.load(arguments.data / "regression" / f"{name}.npz")
            record = {"dataset": name, "fold": fold, **run(table["X"], table["y"], fold)}
            records.append(record)
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
    for name in arguments.names:
        chosen = [r for r in records if r["dataset"] == name]
        for metric in ("log_predictive_density", "expected_log_likelihood", "mse", "coverage"):
            values = np.array([r[metric] for r in chosen])
            error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
            print(f"{name} {metric} {values.mean():.4f} +- {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
