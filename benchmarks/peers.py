"""Seconds of a fit, ours over laplace-torch's Kronecker Laplace and over GPyTorch's exact process.

python -m benchmarks.peers --json [--data DIR] [--tables boston concrete energy]
    [--output results/peers.json]

DIR holds regression/NAME.npz with arrays X and y; without it, tables are looked for as by
`gfsvi bench`, which reads GFSVI_DATA. The peers are installed into an environment of their own.

Folds are those of benchmarks.estimators, the rows are the same for all, and all run on the CPU with
two threads. Ours is `GFSVIRegressor(prior_mean=None).fit(X, y)`, one network as theirs is, which
also chooses its kernel and likelihood; what the peers do is in peers_script.py. `default_seconds`
is of a third fit with all defaults, which also considers trees, and a second network on what they
leave. Libraries take turns, each time in a new process that fits twice, and the fastest of
`--repeats` counts. PyTorch's threads wait for each other actively, which
is its default but many times slower beside other load; every second turn they wait passively, which
is up to twice as slow on a quiet machine. Load still flatters ours: if the `slowest_seconds` of
ours are far from its `seconds`, measure again when the load is gone.

`ours_over_laplace` and `ours_over_gp` are of the first fit after the imports, with no program
compiled before: compilation is part of ours, as what PyTorch loads on first use is part of theirs.
`second_fit` has them for the second fit in a process. At the top they are the largest over tables.
Log predictive density and root mean squared error are of the test rows, in units of the target
standardised by the training rows, and means over repeats and folds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.peers_environment import python_of_peers
from gfsvi.bench.data.loading import VARIABLE, load

ROOT = Path(__file__).parents[1]
TABLES = ("boston", "concrete", "energy")
LIBRARIES = ("ours", "laplace", "gp")
SCORES = ("log_predictive_density", "rmse")
NUM_THREADS = 2
NOT_INHERITED = ("JAX_COMPILATION_CACHE_DIR", "OMP_WAIT_POLICY")

Seconds = dict[str, dict[str, float]]
"""Of the first and of the second fit, by library."""


class Measured(TypedDict):
    """Two fits in one process: seconds of the first and the second, and scores of test rows."""

    seconds: dict[str, float]
    log_predictive_density: float
    rmse: float
    hidden: NotRequired[list[int]]


class Ratios(TypedDict):
    """Our seconds over those of the peers."""

    ours_over_laplace: float
    ours_over_gp: float


class Compared(Ratios):
    """Ratios of the first fit and of the second, and what they are made of, by library."""

    second_fit: Ratios
    seconds: Seconds
    slowest_seconds: Seconds
    default_seconds: float
    log_predictive_density: dict[str, float]
    rmse: dict[str, float]


Turn = dict[str, Measured]
"""What was measured of each library in one turn."""


def compare(folds: list[list[Turn]]) -> Compared:
    """Compare the libraries on one table, from the turns on each of its folds."""
    seconds = _seconds(folds, min)
    scores = {
        score: {
            library: float(np.mean([turn[library][score] for fold in folds for turn in fold]))
            for library in LIBRARIES
        }
        for score in SCORES
    }
    return Compared(
        **_ratios(seconds, "first"),
        second_fit=_ratios(seconds, "second"),
        seconds=seconds,
        slowest_seconds=_seconds(folds, max),
        default_seconds=_fastest(folds, "ours", "default"),
        log_predictive_density=scores["log_predictive_density"],
        rmse=scores["rmse"],
    )


def _seconds(folds: list[list[Turn]], choose: Callable[[list[float]], float]) -> Seconds:
    """One of the turns of each fold, chosen for each library, and their mean over folds."""
    return {
        library: {
            which: float(
                np.mean([choose([turn[library]["seconds"][which] for turn in f]) for f in folds])
            )
            for which in ("first", "second")
        }
        for library in LIBRARIES
    }


def _fastest(folds: list[list[Turn]], library: str, which: str) -> float:
    """The fastest of the turns of each fold, and their mean over folds."""
    return float(np.mean([min(turn[library]["seconds"][which] for turn in f) for f in folds]))


def _ratios(seconds: Seconds, which: str) -> Ratios:
    ours, laplace, gp = (seconds[library][which] for library in LIBRARIES)
    return Ratios(ours_over_laplace=ours / laplace, ours_over_gp=ours / gp)


def summarise(tables: dict[str, Compared]) -> dict[str, object]:
    """What is printed: every table, and the largest ratios over tables."""
    first = _largest(list(tables.values()))
    second = _largest([table["second_fit"] for table in tables.values()])
    return {**tables, **first, "second_fit": second}


def _largest(ratios: list[Compared] | list[Ratios]) -> Ratios:
    return Ratios(
        ours_over_laplace=max(one["ours_over_laplace"] for one in ratios),
        ours_over_gp=max(one["ours_over_gp"] for one in ratios),
    )


def measure(name: str, num_folds: int, repeats: int, peers: Path) -> list[list[Turn]]:
    """Fit a table by every library, in turns, on each of the folds."""
    arrays = load(name).arrays
    x, y = arrays["X"], arrays["y"]
    folds = list(KFold(5, shuffle=True, random_state=0).split(x))[:num_folds]
    found = []
    for number, (train, test) in enumerate(folds):
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder, "rows.npz")
            np.savez(rows, x_train=x[train], y_train=y[train], x_test=x[test], y_test=y[test])
            found.append([])
            for repeat in range(repeats):
                found[-1].append(take_turn(rows, repeat, peers))
                took = {library: m["seconds"] for library, m in found[-1][-1].items()}
                print(f"{name}, fold {number}: {json.dumps(took)}", file=sys.stderr, flush=True)
    return found


def take_turn(rows: Path, seed: int, peers: Path) -> Turn:
    """Fit rows by every library, each in a new process."""
    waiting = {"OMP_WAIT_POLICY": "PASSIVE"} if seed % 2 else {}
    ours = _call(waiting, sys.executable, "-m", "benchmarks.peers_ours", str(rows), str(seed))
    hidden = [str(width) for width in ours.get("hidden", ())]
    script = str(ROOT / "benchmarks" / "peers_script.py")
    theirs = {
        library: _call(waiting, str(peers), script, library, str(rows), str(seed), *hidden)
        for library in LIBRARIES[1:]
    }
    return {"ours": ours, **theirs}


def _call(waiting: dict[str, str], *command: str) -> Measured:
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, env=_environment(cache) | waiting
        )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:3])} ended with {done.returncode}: {done.stderr}")
    return cast(Measured, json.loads(done.stdout.splitlines()[-1]))


def _environment(cache: str) -> dict[str, str]:
    """Variables that give every library the same CPUs and nothing compiled before."""
    kept = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
    threads = {f"{name}_NUM_THREADS": str(NUM_THREADS) for name in ("OMP", "MKL", "OPENBLAS")}
    return kept | threads | {"GFSVI_CACHE": cache, "JAX_PLATFORMS": "cpu"}


def limit_cores() -> None:
    """Run this process and those that it starts on two cores, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:NUM_THREADS])


def main() -> None:
    """Measure the tables, and print or write the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--data", type=Path, help="folder with regression/*.npz")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), help="names of tables")
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6), help="number of folds")
    parser.add_argument("--repeats", type=int, default=4, help="fits per fold; the fastest counts")
    parser.add_argument("--output", type=Path, help="also write the JSON object to this file")
    arguments = parser.parse_args()
    if arguments.data is not None:
        os.environ[VARIABLE] = str(arguments.data)
    peers = python_of_peers()
    limit_cores()
    found = summarise(
        {
            name: compare(measure(name, arguments.folds, arguments.repeats, peers))
            for name in arguments.tables
        }
    )
    text = json.dumps(found, indent=1)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n")
    print(json.dumps(found) if arguments.json else text)


if __name__ == "__main__":
    main()
