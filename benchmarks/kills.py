"""Kills commands at random moments, starts them again, and compares what they leave in the end.

python -m benchmarks.kills [--fits 100] [--benches 50] [--output results/kills.json]

A fit of a made table, and an experiment of two methods on five folds of it, are first run
undisturbed. Then each is started again and again and killed (SIGKILL) at a moment that is uniform
over the time that it takes undisturbed. Whatever is finished, at the latest by a last run that is
not killed, must be the same: the bytes of the model file, and the scores of the experiment. With no
kills of one of them, what the output has about it stays.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import gfsvi

CLI = (sys.executable, "-m", "gfsvi.cli")
FIT = (*CLI, "fit", "table.csv", "--target", "y", "--output", "model.gfsvi", "--quiet")
BENCH = (*CLI, "bench", "run", "experiment.toml", "--output", "results", "--workers", "1")
EXPERIMENT = """
task = "regression"
datasets = ["table.csv:y"]
[settings]
kernel = "rbf"
network = { hidden = [10] }
[methods.exact_gp]
method = "exact_gp"
[methods.gfsvi]
method = "gfsvi"
"""
Left = Callable[[Path], Any]


def write_inputs(folder: Path) -> None:
    """A small table, and an experiment with it."""
    random = np.random.default_rng(0)
    x = random.normal(size=(120, 3))
    y = np.sin(x).sum(axis=1) + 0.1 * random.normal(size=120)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=y)
    frame.to_csv(folder / "table.csv", index=False)
    (folder / "experiment.toml").write_text(EXPERIMENT)


def model_left(folder: Path) -> bytes | None:
    """The model file, which is taken away; None if there is none yet."""
    path = folder / "model.gfsvi"
    if not path.exists():
        return None
    content = path.read_bytes()
    path.unlink()
    return content


def scores_left(folder: Path) -> list[Any] | None:
    """The scores of a complete experiment, whose folder is emptied; None if runs are missing."""
    path = folder / "results" / "records.jsonl"
    if not path.exists():
        return None
    lines = path.read_text().splitlines()
    records = [json.loads(line) for line in lines if line.endswith("}")]
    if len(records) < 10:
        return None
    scores = sorted([record["run"], record["status"], _untimed(record)] for record in records)
    shutil.rmtree(folder / "results")
    return scores


def _untimed(record: dict[str, Any]) -> dict[str, float]:
    """The metrics of a record but for seconds, which no two runs share."""
    return {name: v for name, v in record["metrics"].items() if not name.endswith("_seconds")}


def sources() -> str:
    """A fingerprint of the library: results before and after an edit say nothing."""
    found = hashlib.sha256()
    for path in sorted(Path(gfsvi.__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def undisturbed(command: tuple[str, ...], folder: Path, left: Left) -> tuple[Any, float]:
    """What a command leaves, and the seconds that it takes."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds, found = time.perf_counter() - began, left(folder)
    if done.returncode or found is None:
        raise RuntimeError(f"{' '.join(command[2:5])} ended with {done.returncode}: {done.stderr}")
    return found, seconds


def _run_for(seconds: float, command: tuple[str, ...], folder: Path) -> None:
    """Start a command, and kill it after so long."""
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def killed(command: tuple[str, ...], folder: Path, left: Left, num_kills: int) -> dict[str, Any]:
    """Kill a command so often, and count how often it came to an end that differs."""
    before = sources()
    undisturbed(command, folder, left)  # what is compiled is kept
    expected, seconds = undisturbed(command, folder, left)
    random = np.random.default_rng(0)
    finished = differing = 0
    for number in range(num_kills):
        _run_for(random.uniform(0, seconds), command, folder)
        found = left(folder)
        finished += found is not None
        differing += found is not None and found != expected
        if (number + 1) % 10 == 0:
            print(f"{number + 1} kills, {finished} finished, {differing} differ", flush=True)
    found, _ = undisturbed(command, folder, left)
    if sources() != before:
        raise RuntimeError("the library was edited meanwhile; run this again and leave it alone.")
    if found != expected and isinstance(found, list):
        print("expected", expected, "found", found, sep="\n", flush=True)
    names = sorted(path.name for path in folder.iterdir() if path.name != "cache")
    return {
        "kills": num_kills,
        "finished_before_the_kill": finished,
        "differing": differing + (found != expected),
        "left_over": [name for name in names if name not in KNOWN],
        "seconds_undisturbed": seconds,
    }


KNOWN = ("table.csv", "experiment.toml", "results")


def main() -> int:
    """Kill fits and experiments, print and write what became of them; 1 if results differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--benches", type=int, default=50)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    found = {}
    if arguments.output is not None and arguments.output.exists():
        found = json.loads(arguments.output.read_text())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_inputs(folder)
        os.environ["GFSVI_CACHE"] = str(folder / "cache")
        jobs = (("fit", FIT, model_left, arguments.fits),)
        jobs += (("bench", BENCH, scores_left, arguments.benches),)
        for name, command, left, num_kills in jobs:
            if num_kills:
                found[name] = killed(command, folder, left, num_kills)
                print(name, json.dumps(found[name]), flush=True)
                if arguments.output is not None:
                    arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    return int(any(one["differing"] or one["left_over"] for one in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
