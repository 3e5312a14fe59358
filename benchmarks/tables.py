"""GFSVI with its defaults on small tables, with the paper's five folds.

python -m benchmarks.tables --data DIR boston yacht --output results/tables.jsonl

DIR holds regression/NAME.npz with arrays X and y. One line of JSON per fold is appended; folds that
are already in the file are skipped.
"""

import argparse
import time
from pathlib import Path

import jax
import numpy as np

from benchmarks.recording import append_record, print_means, read_records
from gfsvi import metrics
from gfsvi.bench.data.folds import fold_of
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import WarpedNormal
from gfsvi.methods import GFSVI, EmpiricalBayes
from gfsvi.model import Model
from gfsvi.predictives.warp import Warp

METRICS = ("expected_log_likelihood", "log_predictive_density", "mse", "coverage")


def run(x: np.ndarray, y: np.ndarray, fold: int, method: GFSVI | None = None) -> dict[str, float]:
    """Fit prior and posterior on one fold and score its test rows."""
    start = time.perf_counter()
    data, validation, test = fold_of(x, y, fold)
    key = jax.random.key(fold)
    kernel = Matern52(np.full(x.shape[1], x.shape[1] ** 0.5))
    prior = Model(GaussianProcess(kernel), WarpedNormal(0.3, Warp.fitted(np.asarray(data.y))))
    prior = EmpiricalBayes()(prior, data, key=key).posterior
    chosen = time.perf_counter()
    fit = (GFSVI() if method is None else method)(prior, data, key=key, validation=validation)
    predictive = fit.posterior.predict(test.x)
    return {
        "expected_log_likelihood": float(metrics.expected_log_likelihood(predictive, test.y)),
        "log_predictive_density": float(metrics.log_predictive_density(predictive, test.y)),
        "mse": float(metrics.mse(predictive, test.y)),
        "coverage": float(metrics.coverage(predictive, test.y)),
        "prior_noise": float(prior.likelihood.noise),
        "noise": float(fit.posterior.likelihood.noise),
        "best_step": fit.history.best_step,
        "prior_seconds": chosen - start,
        "seconds": time.perf_counter() - start,
    }


def main() -> None:
    """Run the folds that are missing and print means with standard errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="tables, for example boston yacht")
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--output", required=True, type=Path, help="records, one line per fold")
    arguments = parser.parse_args()
    records = read_records(arguments.output)
    for name in arguments.names:
        table = np.load(arguments.data / "regression" / f"{name}.npz")
        for fold in range(5):
            if any(r["dataset"] == name and r["fold"] == fold for r in records):
                continue
            record = {"dataset": name, "fold": fold, **run(table["X"], table["y"], fold)}
            records.append(record)
            append_record(arguments.output, record)
        print_means(records, name, METRICS)


if __name__ == "__main__":
    main()
