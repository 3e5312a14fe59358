"""Optimisation: regret after each batch of rows, beside a Gaussian process, an ensemble and chance.

python -m benchmarks.optimisation --data DIR --output results/optimisation.jsonl [--picture FILE]

Every method begins with the same rows and asks for four rows at a time; all are fitted again after
each batch. The network is `GFSVIRegressor` with expected improvement, the Gaussian process is
BoTorch's `SingleTaskGP` with `qLogExpectedImprovement` (`pip install botorch==0.18.1`; or name
other methods), the ensemble five networks of scikit-learn with expected improvement. A second run
measures what is missing. DIR holds science/Photoswitch.csv and science/ESOL.csv.
"""

# pyright: reportMissingImports=false
# BoTorch is optional.

import argparse
import dataclasses
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

from benchmarks.optimisation_problems import Problem, problems
from benchmarks.recording import append_record, read_records
from gfsvi import GFSVIRegressor, suggest
from gfsvi.acquisition.improvement import log_expected_improvement
from gfsvi.auto.parameters import Parameters
from gfsvi.numerics.threads import one_thread

BATCH, SEEDS = 4, 10
ALONE = {"members": 1, "prior_mean": None}
"""A single network, where there could be more."""


def network(problem: Problem, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """The next batch by this library."""
    known = {field.name for field in dataclasses.fields(Parameters)}
    alone = {name: value for name, value in ALONE.items() if name in known}
    model = GFSVIRegressor(random_state=seed, **alone).fit(x, y)
    if problem.pool is not None:
        return suggest(model, problem.pool, batch=BATCH, measured=x, seed=seed).rows
    bounds = dict.fromkeys(model.fitted_.feature_names, (0.0, 1.0, 0.0))
    return suggest(model, bounds, batch=BATCH, measured=x, seed=seed).rows


def gaussian_process(problem: Problem, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """The next batch by BoTorch's defaults."""
    import torch
    from botorch.acquisition import qLogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf, optimize_acqf_discrete
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    low, spread = 0.0, 1.0
    if problem.pool is not None:
        low, spread = problem.pool.min(axis=0), np.maximum(np.ptp(problem.pool, axis=0), 1e-12)
    rows, values = torch.tensor((x - low) / spread), torch.tensor(y)[:, None]
    model = SingleTaskGP(rows, values)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    improvement = qLogExpectedImprovement(model, best_f=values.max())
    if problem.pool is not None:
        fresh = problem.pool[~_among(problem.pool, x)]
        choices = torch.tensor((fresh - low) / spread)
        found, _ = optimize_acqf_discrete(improvement, q=BATCH, choices=choices, unique=True)
        return fresh[[int(np.argmin(np.abs(choices - row).sum(1))) for row in found]]
    bounds = torch.tensor([[0.0], [1.0]]).double().expand(2, problem.dimension)
    found, _ = optimize_acqf(
        improvement, bounds, q=BATCH, num_restarts=4, raw_samples=128, sequential=True
    )
    return found.numpy()


def ensemble(problem: Problem, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """The next batch by five networks: their mean and spread, and expected improvement."""
    random, scaler = np.random.default_rng(seed), StandardScaler().fit(x)
    z = (y - y.mean()) / max(y.std(), 1e-12)
    networks = [
        MLPRegressor(
            hidden_layer_sizes=(64, 64), max_iter=400, random_state=seed + number, alpha=1e-4
        )
        for number in range(5)
    ]
    for one in networks:
        one.fit(scaler.transform(x), z)
    if problem.pool is not None:
        rows = problem.pool[~_among(problem.pool, x)]
    else:
        best = x[np.argsort(-y)[:5]]
        near = np.repeat(best, 200, axis=0)
        near = near + random.choice([0.1, 0.03], size=(1000, 1)) * random.normal(size=near.shape)
        rows = np.concatenate([random.uniform(size=(1000, x.shape[1])), np.clip(near, 0, 1)])
    drawn = np.stack([one.predict(scaler.transform(rows)) for one in networks])
    scores = log_expected_improvement(drawn.mean(axis=0), drawn.std(axis=0), z.max())
    return rows[np.argsort(-scores)[:BATCH]]


def chance(problem: Problem, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """The next batch at random."""
    random = np.random.default_rng([seed, len(x)])
    if problem.pool is None:
        return random.uniform(size=(BATCH, problem.dimension))
    fresh = problem.pool[~_among(problem.pool, x)]
    return fresh[random.choice(len(fresh), BATCH, replace=False)]


METHODS: dict[str, Callable[[Problem, np.ndarray, np.ndarray, int], np.ndarray]] = {
    "gfsvi": network,
    "SingleTaskGP": gaussian_process,
    "deep ensemble": ensemble,
    "random": chance,
}


def _among(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    seen = {row.tobytes() for row in np.ascontiguousarray(known)}
    return np.array([row.tobytes() in seen for row in np.ascontiguousarray(rows)])


@one_thread()
def regrets(problem: Problem, method: str, seed: int) -> dict[str, list[float] | float]:
    """How far the best row so far is from the optimum, after each batch."""
    x = problem.first(seed)
    y = problem.value(x)
    found, seconds = [problem.best - float(y.max())], []
    for _ in range(problem.rounds):
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh = METHODS[method](problem, x, y, seed)
        seconds.append(time.process_time() - began)
        x, y = np.concatenate([x, fresh]), np.concatenate([y, problem.value(fresh)])
        found.append(problem.best - float(y.max()))
    return {"regret": found, "seconds_a_suggestion": float(np.mean(seconds)) / BATCH}


def main() -> None:
    """Run what has no record yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--problem", action="append")
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--picture", type=Path, help="draw what is recorded, and run nothing")
    arguments = parser.parse_args()
    if arguments.picture is not None:
        from benchmarks.optimisation_picture import draw

        draw(read_records(arguments.output), arguments.picture)
        return
    done = {(r["problem"], r["method"], r["seed"]) for r in read_records(arguments.output)}
    for seed in range(arguments.seeds):
        for problem in problems(arguments.data):
            for method in arguments.method or METHODS:
                if (problem.name, method, seed) in done:
                    continue
                if arguments.problem and problem.name not in arguments.problem:
                    continue
                told = {"problem": problem.name, "method": method, "seed": seed}
                told |= {"start": problem.start, "batch": BATCH}
                append_record(arguments.output, told | regrets(problem, method, seed))


if __name__ == "__main__":
    main()
