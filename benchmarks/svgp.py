"""Our regressor with its defaults beside GPyTorch's sparse variational process, on larger tables.

python -m benchmarks.svgp --data DIR [--folds 3] [--output results/svgp.jsonl]

DIR holds large/kin40k.csv.gz, large/keggdirected.csv.gz and regression/protein.npz. Of each fold of
three, both are fitted to the same rows, one after the other, with OMP_NUM_THREADS threads: two
if it is not set. Scores are of the test rows, the target standardised by the training rows. What
GPyTorch does is in svgp_script.py. Folds whose record is in the output are not measured again.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.peers_environment import python_of_peers
from benchmarks.recording import append_record, read_records

ROOT = Path(__file__).parents[1]
TABLES = {
    "kin40k": "large/kin40k.csv.gz",
    "keggdirected": "large/keggdirected.csv.gz",
    "protein": "regression/protein.npz",
}


def rows_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets; the target is the last column of a CSV file."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return file["X"], file["y"]
    table = np.loadtxt(path, delimiter=",")
    return table[:, :-1], table[:, -1]


def ours(path: str, seed: str) -> None:
    """Fit our regressor, and print seconds and scores."""
    from gfsvi.estimators import GFSVIRegressor

    with np.load(path, allow_pickle=False) as file:
        x, y, x_test, y_test = (file[f"{a}_{b}"] for b in ("train", "test") for a in "xy")
    wall, processor = time.perf_counter(), time.process_time()
    regressor = GFSVIRegressor(random_state=int(seed)).fit(x, y)
    found = {
        "seconds": time.perf_counter() - wall,
        "processor_seconds": time.process_time() - processor,
    }
    scores = regressor.fitted_.evaluate(x_test, y_test)
    spread = float(np.std(y))
    density = scores["log_predictive_density"] + float(np.log(spread))
    rmse = scores["mse"] ** 0.5 / spread
    print(json.dumps({**found, "log_predictive_density": density, "rmse": rmse}))


def compared(x: np.ndarray, y: np.ndarray, fold: int, peers: Path) -> dict[str, object]:
    """Seconds and scores of both on a fold."""
    train, test = list(KFold(3, shuffle=True, random_state=0).split(x))[fold]
    with tempfile.TemporaryDirectory() as folder:
        rows = f"{folder}/rows.npz"
        np.savez(rows, x_train=x[train], y_train=y[train], x_test=x[test], y_test=y[test])
        script = str(ROOT / "benchmarks" / "svgp_script.py")
        return {
            "load": os.getloadavg()[0],
            "ours": _printed([sys.executable, "-m", "benchmarks.svgp", "--one", rows, str(fold)]),
            "svgp": _printed([str(peers), script, rows, str(fold)]),
        }


def _printed(command: list[str]) -> dict[str, float]:
    environment = {"OMP_NUM_THREADS": "2", "JAX_PLATFORMS": "cpu", **os.environ}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure what is not recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, help="rows and seed of a single fit of ours")
    parser.add_argument("--data", type=Path, help="the folder of the tables")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--folds", type=int, default=3, choices=(1, 2, 3))
    parser.add_argument("-o", "--output", type=Path, default=Path("results/svgp.jsonl"))
    arguments = parser.parse_args()
    if arguments.one is not None:
        ours(*arguments.one)
        return
    known = {(record["table"], record["fold"]) for record in read_records(arguments.output)}
    peers = python_of_peers()
    for fold in range(arguments.folds):
        for name in arguments.tables:
            if (name, fold) not in known:
                found = compared(*rows_of(arguments.data / TABLES[name]), fold, peers)
                append_record(arguments.output, {"table": name, "fold": fold, **found})


if __name__ == "__main__":
    main()
