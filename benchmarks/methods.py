r"""Every method with its defaults on small tables, five folds as in the paper.

python -m benchmarks.methods --data DIR --methods mfvi laplace --tables boston yacht \\
    --output results/methods.jsonl [--published DIR]

DIR holds regression/NAME.npz with arrays X and y. One line of JSON a run is appended as it comes;
runs that are there already are skipped. With --published (a folder with the paper's
regression.csv) the summary has its numbers beside ours.
"""

import argparse
import csv
import functools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from benchmarks.tables import fold_of
from gfsvi import Fit, metrics, registry
from gfsvi.data import Data
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.method import AbstractMethod
from gfsvi.methods import EmpiricalBayes, ExactGP
from gfsvi.model import Model
from gfsvi.networks import MLP

METHODS = ("gfsvi", "fvi", "tfsvi", "mfvi", "vip", "laplace", "gwi", "sparse_gp", "exact_gp")
EXTRAS = ("map", "deep_ensemble")
TABLES = ("boston", "concrete", "energy", "wine", "yacht")
PAPER_NAMES = {"exact_gp": "gp"}
T = TypeVar("T")


def build(name: str) -> AbstractMethod:
    """The method of that name with its defaults; the exact GP chooses its own prior.

    Like those of all others, its noise is set by the validation rows: the noise that makes the
    training rows most probable is far too small for this measure.
    """
    if name == "exact_gp":
        return ExactGP(num_starts=3, calibrate=1.0)
    return registry.find("methods", name)()


def weight_prior(data: Data) -> Model:
    """Independent standard normal weights."""
    return Model(BayesianNetwork.prior(MLP(), data.x), Normal(0.3))


def process_prior(data: Data, key: Any) -> Model:
    """A Gaussian process whose parameters make the training rows most probable."""
    num_features = data.x.shape[1]
    kernel = Matern52(np.full(num_features, num_features**0.5))
    model = Model(GaussianProcess(kernel), Normal(0.3))
    return EmpiricalBayes()(model, data, key=key).posterior


def run_fold(
    x: np.ndarray, y: np.ndarray, fold: int, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, float]]]:
    """The scores of each method on the test rows of one fold, all under the same priors."""
    data, validation, test = fold_of(x, y, fold)
    key = jax.random.key(fold, impl="rbg")  # compiles three times faster than the default
    process = functools.cache(lambda: _timed(lambda: process_prior(data, key)))
    for name in names:
        method = build(name)
        over_weights = method.prior_kind is BayesianNetwork
        prior, prior_seconds = (weight_prior(data), 0.0) if over_weights else process()
        fitted = functools.partial(method, prior, data, key=key, validation=validation)
        fit, seconds = _timed(fitted)
        scores = _scores(fit, test)
        yield name, {**scores, "prior_seconds": prior_seconds, "seconds": seconds}


def _scores(fit: Fit, test: Data) -> dict[str, float]:
    predictive = fit.posterior.predict(test.x)
    return {
        "expected_log_likelihood": float(metrics.expected_log_likelihood(predictive, test.y)),
        "log_predictive_density": float(metrics.log_predictive_density(predictive, test.y)),
        "mse": float(metrics.mse(predictive, test.y)),
        "coverage": float(metrics.coverage(predictive, test.y)),
        "noise": float(np.mean(np.asarray(fit.posterior.likelihood.noise))),
        "best_step": fit.history.best_step,
    }


def _timed(function: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def summary(records: list[dict[str, Any]], published: Path | None) -> str:
    """A Markdown table: ours, the paper's, and how far apart they are."""
    paper = {} if published is None else _published(published)
    lines = ["| table | method | folds | expected log-likelihood | paper | reached | MSE | paper |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for table in sorted({record["dataset"] for record in records}):
        for name in (*METHODS, *EXTRAS):
            chosen = [r for r in records if (r["dataset"], r["method"]) == (table, name)]
            if chosen:
                lines.append(_row(table, name, chosen, paper))
    return "\n".join(lines)


def _row(table: str, name: str, records: list[dict[str, Any]], paper: dict[Any, Any]) -> str:
    ours = {m: _mean_and_error(records, m) for m in ("expected_log_likelihood", "mse")}
    theirs = {m: paper.get((m, table, PAPER_NAMES.get(name, name))) for m in ours}
    likelihood = theirs["expected_log_likelihood"]
    reached = "-"
    if likelihood is not None:
        # The measure: the paper's value less two of its standard errors.
        enough = ours["expected_log_likelihood"][0] >= likelihood[0] - 2 * likelihood[1]
        reached = "yes" if enough else "no"
    cells = [table, name, str(len(records))]
    cells += [_shown(ours["expected_log_likelihood"]), _shown(likelihood), reached]
    cells += [_shown(ours["mse"]), _shown(theirs["mse"])]
    return "| " + " | ".join(cells) + " |"


def _mean_and_error(records: list[dict[str, Any]], metric: str) -> tuple[float, float]:
    values = np.array([record[metric] for record in records])
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def _shown(pair: tuple[float, float] | None) -> str:
    return "-" if pair is None else f"{pair[0]:.3f} ± {pair[1]:.3f}"


def _published(folder: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    with (folder / "regression.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {
        (r["metric"], r["dataset"], r["method"]): (float(r["mean"]), float(r["standard_error"]))
        for r in rows
    }


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=[*METHODS, *EXTRAS])
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--folds", type=int, default=5, help="how many of the five")
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--output", required=True, type=Path, help="records, one line a run")
    parser.add_argument("--published", type=Path, help="folder with the paper's regression.csv")
    arguments = parser.parse_args()
    path = arguments.output
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(r["dataset"], r["method"], r["fold"]) for r in records}
    for fold in range(arguments.folds):
        for table_name in arguments.tables:
            missing = [n for n in arguments.methods if (table_name, n, fold) not in done]
            table = np.load(arguments.data / "regression" / f"{table_name}.npz")
            for name, scores in run_fold(table["X"], table["y"], fold, missing):
                record = {"dataset": table_name, "method": name, "fold": fold, **scores}
                records.append(record)
                with path.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(json.dumps(record), flush=True)
    print(summary(records, arguments.published))


if __name__ == "__main__":
    main()
