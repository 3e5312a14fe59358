"""Milliseconds per step and seconds to early stopping of every method on boston.

GFSVI_DATA=DIR python -m benchmarks.method_steps --json results/method_steps.json

One fold of the table, networks of 2x100 units and, for methods that use them, 100 measurement
points.
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.data.folds import fold_of
from gfsvi.bench.data.loading import load
from gfsvi.covariances import Diagonal
from gfsvi.functions import BayesianNetwork
from gfsvi.methods import GFSVI
from gfsvi.methods.base import AbstractMethod
from gfsvi.points import BatchRows, Mixture, UniformBox
from gfsvi.training.settings import Progress, Training

METHODS = ("gfsvi", "fvi", "tfsvi", "mfvi", "vip", "laplace", "gwi", "sparse_gp")
POINTS = Mixture((BatchRows(50), UniformBox(50)))
ROUNDS, STEPS_PER_ROUND = 5, 10


class Clock:
    """Times of the evaluations during training."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, progress: Progress) -> bool:
        """Record the time; never stop."""
        self.times.append(time.perf_counter())
        return False


def methods() -> dict[str, AbstractMethod]:
    """Every trained method with 100 measurement points, and GFSVI with the paper's covariance."""
    built = {name: build_method({"method": name}) for name in METHODS}
    built["gfsvi_diagonal"] = GFSVI(covariance=Diagonal())
    return {
        name: dataclasses.replace(method, points=POINTS) if hasattr(method, "points") else method
        for name, method in built.items()
    }


def milliseconds_per_step(method: AbstractMethod, prior: Any, data: Any, key: Any) -> float:
    """Median over rounds of steps, without the first, which compiles."""
    clock = Clock()
    training = Training(
        num_steps=(ROUNDS + 1) * STEPS_PER_ROUND, evaluate_every=STEPS_PER_ROUND, watch=clock
    )
    changes: dict[str, Any] = {"training": training}
    if hasattr(method, "mean"):
        changes["mean"] = None
    if hasattr(method, "num_rounds"):
        changes["num_rounds"] = 0
    dataclasses.replace(method, **changes)(prior, data, key=key)
    return 1000 * float(np.median(np.diff(clock.times))) / STEPS_PER_ROUND


def main() -> None:
    """Time the methods, print the figures and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    table = load("boston").arrays
    data, validation, _ = fold_of(table["X"], table["y"], 0)
    key = jax.random.key(0, impl="rbg")
    process, weights = (
        prior_for(build_method({"method": name}), data, {}, key) for name in ("gfsvi", "mfvi")
    )
    rows: dict[str, dict[str, float]] = {}
    for name, method in methods().items():
        prior = weights if method.prior_kind is BayesianNetwork else process
        rows[name] = {"milliseconds_a_step": milliseconds_per_step(method, prior, data, key)}
        method(prior, data, key=key, validation=validation)  # compiles
        start = time.perf_counter()
        fit = method(prior, data, key=key, validation=validation)
        rows[name]["seconds_to_early_stopping"] = time.perf_counter() - start
        rows[name]["steps"] = len(fit.history.steps["objective"])
        print(name, {k: round(v, 2) for k, v in rows[name].items()}, flush=True)
    for other in ("tfsvi", "mfvi"):
        for metric in ("milliseconds_a_step", "seconds_to_early_stopping"):
            ratio = rows["gfsvi"][metric] / rows[other][metric]
            print(f"gfsvi over {other}, {metric}: {ratio:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
