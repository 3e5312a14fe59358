"""`gfsvi fit`, `predict` and `evaluate` on complete tables, as a user would run them.

python -m benchmarks.command_line --data DIR --output results/command_line.jsonl [NAME ...]

DIR holds regression/NAME.npz with arrays X and y. A tenth of each table, and at least 60 rows, is
held out for evaluation. `breast_cancer` and `digits` come with scikit-learn; `untidy` is derived
from diabetes, with text categories, missing values, a constant, a date and awkward names. One line
of JSON per table is appended; tables that are already in the file are skipped.

Commands are timed from process start to file. `seconds_first` is of a fit that finds nothing
compiled, `seconds_second` of the next one; likewise `seconds_predict_first` and
`seconds_predict_second` for 1,000 rows. `seconds_second_in_process` is of the second call of
`fit_table` in one process, without its start.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from benchmarks.recording import append_record, read_records
from gfsvi import BayesianClassifier, BayesianRegressor

REGRESSION = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine")
MAX_ROWS_TWICE = 2000
"""Larger tables are fitted only once, since compilation is a small part of their time."""
NUM_ROWS_TO_PREDICT = 1000
CLASSIFICATION = ("breast_cancer", "digits")
NAMES = (*REGRESSION, "yacht", "denmark_5000", *CLASSIFICATION, "untidy")


def table_of(name: str, folder: Path) -> tuple[pd.DataFrame, str]:
    """A table and the name of its target."""
    if name == "untidy":
        return _untidy(), "progression, a year later"
    if name in CLASSIFICATION:
        bunch: Any = getattr(datasets, f"load_{name}")(as_frame=True)
        labels = np.asarray(bunch.target_names)[bunch.target]
        return bunch.data.assign(kind=[f"class {label}" for label in labels]), "kind"
    arrays = np.load(folder / "regression" / f"{name}.npz")
    columns = [f"x{i + 1}" for i in range(arrays["X"].shape[1])]
    return pd.DataFrame(arrays["X"], columns=columns).assign(y=arrays["y"]), "y"


def _untidy() -> pd.DataFrame:
    bunch: Any = datasets.load_diabetes(as_frame=True, scaled=False)
    frame, random = bunch.data.copy(), np.random.default_rng(0)
    frame["sex"] = frame["sex"].map({1.0: "female", 2.0: "male"})
    frame.loc[random.random(len(frame)) < 0.1, "bmi"] = np.nan
    frame["blood pressure (mmHg), <mean>"] = frame.pop("bp")
    frame["clinic"] = random.choice(["north", "süd", "east, 2nd floor"], len(frame))
    frame["country"] = "SE"
    frame["visited"] = pd.Timestamp("2001-01-01") + pd.to_timedelta(
        random.integers(0, 900, len(frame)), unit="D"
    )
    return frame.assign(**{"progression, a year later": bunch.target})


def run(name: str, folder: Path, method: str) -> dict[str, Any]:
    """Fit, predict and evaluate one table on the command line."""
    frame, target = table_of(name, folder)
    held_out = np.random.default_rng(0).permutation(len(frame)) < max(60, len(frame) // 10)
    small = len(frame) <= MAX_ROWS_TWICE
    with tempfile.TemporaryDirectory() as place:
        train, test, new = (Path(place, f"{part}.csv") for part in ("train", "test", "new"))
        frame.loc[~held_out].to_csv(train, index=False)
        frame.loc[held_out].to_csv(test, index=False)
        rows_to_predict(frame).to_csv(new, index=False)
        model, predictions, cache = (Path(place, n) for n in ("m.gfsvi", "p.csv", "cache"))
        options = ["--target", target, "--method", method, "--output", str(model), "--quiet"]
        fit = ("fit", str(train), *options)
        predict = ("predict", str(model), str(new), "--output", str(predictions))
        seconds = {
            "seconds_first": _seconds(*fit, cache=cache),
            "seconds_second": _seconds(*fit, cache=cache) if small else None,
            "seconds_predict_first": _seconds(*predict, cache=cache),
            "seconds_predict_second": _seconds(*predict, cache=cache),
        }
        scores = json.loads(_call("evaluate", str(model), str(test), "--json", cache=cache))
        columns = list(pd.read_csv(predictions).columns)
    again = in_new_process(name, frame.loc[~held_out], target, method) if small else None
    seconds["seconds_second_in_process"] = again
    return {"rows": int((~held_out).sum()), **seconds, "columns": columns[:8], **scores}


def rows_to_predict(frame: pd.DataFrame) -> pd.DataFrame:
    """As many rows as are predicted, some of them repeatedly if the table has fewer."""
    replace = len(frame) < NUM_ROWS_TO_PREDICT
    return frame.sample(NUM_ROWS_TO_PREDICT, replace=replace, random_state=0)


def in_new_process(name: str, frame: pd.DataFrame, target: str, method: str) -> float:
    """Seconds of the second fit in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(seconds_of_second_fit, name, frame, target, method).result()


def seconds_of_second_fit(name: str, frame: pd.DataFrame, target: str, method: str) -> float:
    """Fit a table twice; the first fit compiles."""
    kind = BayesianClassifier if name in CLASSIFICATION else BayesianRegressor
    kind(method, random_state=0).fit_table(frame, target)
    start = time.perf_counter()
    kind(method, random_state=0).fit_table(frame, target)
    return time.perf_counter() - start


def _seconds(*words: str, cache: Path | None = None) -> float:
    start = time.perf_counter()
    _call(*words, cache=cache)
    return time.perf_counter() - start


def _call(*words: str, cache: Path | None = None) -> str:
    environment = dict(os.environ)
    if cache is not None:
        environment["GFSVI_CACHE"] = str(cache)
    command = [sys.executable, "-m", "gfsvi.cli", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words[:2])} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def main() -> None:
    """Run the tables that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--output", required=True, type=Path, help="records, one line per table")
    parser.add_argument("--method", default="gfsvi")
    arguments = parser.parse_args()
    records = read_records(arguments.output)
    for name in arguments.names or NAMES:
        if any((r["dataset"], r["method"]) == (name, arguments.method) for r in records):
            continue
        scores = run(name, arguments.data, arguments.method)
        record = {"dataset": name, "method": arguments.method, **scores}
        append_record(arguments.output, record)


if __name__ == "__main__":
    main()
