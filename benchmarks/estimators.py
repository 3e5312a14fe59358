"""The regressor with its defaults on tables.

python -m benchmarks.estimators --data DIR boston yacht --output results/estimators.jsonl

DIR holds regression/NAME.npz with arrays X and y. Five folds of KFold(5, shuffle=True,
random_state=0); scores are in units of the target standardised by the training rows. One line of
JSON per fold is appended; folds that are already in the file are skipped. Another method than the
default is asked for by `--method laplace`, say, and rows are held out for it as a fraction by
`--validation 0.0`.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.recording import append_record, print_means, read_records
from gfsvi import BayesianRegressor

METRICS = ("log_predictive_density", "expected_log_likelihood", "mse", "coverage")


def run(
    x: np.ndarray, y: np.ndarray, fold: int, method: str, validation: float | None
) -> dict[str, Any]:
    """Fit the training rows of a fold and score its held-out rows."""
    train, test = list(KFold(5, shuffle=True, random_state=0).split(x))[fold]
    start = time.perf_counter()
    regressor = BayesianRegressor(method, random_state=fold, validation_fraction=validation)
    regressor.fit(x[train], y[train])
    seconds = time.perf_counter() - start
    suffix = "_standardized"
    scores = regressor.fitted_.evaluate(x[test], y[test])
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
    """Run the folds that are missing and print means with standard errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="tables, for example boston yacht")
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--output", required=True, type=Path, help="records, one line per fold")
    parser.add_argument("--folds", type=int, default=5, help="number of folds to run, at most five")
    parser.add_argument("--method", default="gfsvi", help="see `gfsvi list methods`")
    parser.add_argument(
        "--validation", type=float, help="fraction held out; by default, the recipe's"
    )
    arguments = parser.parse_args()
    records = read_records(arguments.output)
    for fold in range(arguments.folds):
        for name in arguments.names:
            if any(r["dataset"] == name and r["fold"] == fold for r in records):
                continue
            table = np.load(arguments.data / "regression" / f"{name}.npz")
            scores = run(table["X"], table["y"], fold, arguments.method, arguments.validation)
            record = {"dataset": name, "fold": fold, **scores}
            records.append(record)
            append_record(arguments.output, record)
    for name in arguments.names:
        print_means(records, name, METRICS)


if __name__ == "__main__":
    main()
