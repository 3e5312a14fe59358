"""Three million flights: fit, evaluate and predict by the command line, beside two peers.

`python -m benchmarks.flights TABLE` holds out a random tenth, fits the rest with `gfsvi fit`,
scores the tenth with `gfsvi evaluate` and predicts all rows with `gfsvi predict`. The peers are
scikit-learn's HistGradientBoostingRegressor and a linear model, both with constant normal noise, on
the same columns: days, time of day and week, distance, and airports as categories (for the linear
model, the mean of the target by airport). Seconds and memory are of each command.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recording import append_record

TARGET, SHARE = "delay", 0.1


def main() -> None:
    """Run the comparison and record it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", help="flights-3m.parquet")
    parser.add_argument("-o", "--output", default="results/flights.jsonl")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        train, test = _split(arguments.table, Path(folder))
        model = f"{folder}/flights.gfsvi"
        fit = ["fit", train, "--target", TARGET, "--hold-out", "random", "-o", model]
        record = {"load": os.getloadavg()[0], "fit": _without_paths(run_measured(fit))}
        scored = run_measured(["evaluate", model, test, "--json"])
        record["evaluate"] = scored | {"scores": json.loads(str(scored.pop("printed")))}
        predict = ["predict", model, arguments.table, "-o", f"{folder}/predictions.parquet"]
        record["predict"] = _without_paths(run_measured(predict))
        record["peers"] = _peers(train, test)
    append_record(Path(arguments.output), record)


def _without_paths(found: dict[str, Any]) -> dict[str, Any]:
    """A measurement without what was printed: where files of a temporary folder are."""
    return {name: value for name, value in found.items() if name != "printed"}


def _split(table: str, folder: Path) -> tuple[str, str]:
    """A random tenth of the rows in one file, the others in another."""
    import pyarrow.parquet as parquet

    random, file = np.random.default_rng(0), parquet.ParquetFile(table)
    paths = [str(folder / name) for name in ("train.parquet", "test.parquet")]
    schema = file.schema_arrow
    with (
        parquet.ParquetWriter(paths[0], schema) as train,
        parquet.ParquetWriter(paths[1], schema) as test,
    ):
        for number in range(file.num_row_groups):
            rows = file.read_row_group(number)
            held_out = random.random(len(rows)) < SHARE
            train.write_table(rows.filter(~held_out), row_group_size=2**16)
            test.write_table(rows.filter(held_out), row_group_size=2**16)
    return paths[0], paths[1]


def run_measured(words: list[str]) -> dict[str, float | str]:
    """Run a command of ours, and measure it."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-c", _MEASURED, *words]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    *printed, memory = done.stdout.strip().splitlines()
    return {
        "seconds": time.monotonic() - began,
        "processor_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_megabytes": int(memory) / 1024,
        "printed": printed[-1] if printed else "",
    }


_MEASURED = """
import resource, sys
from gfsvi.cli import main
status = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(status)
"""


def _peers(train: str, test: str) -> dict[str, dict[str, float]]:
    """Scores of trees and of a linear model, whose noise is that of the training rows."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    (x, y), (new, observed) = _columns(train, train), _columns(test, train)
    trees = HistGradientBoostingRegressor(random_state=0)
    trees.set_params(categorical_features=[6, 7])
    found = {}
    # The airports as categories, then as the mean of the target there.
    for name, model, used in (
        ("trees", trees, [*range(8)]),
        ("linear", LinearRegression(), [*range(6), 8, 9]),
    ):
        began = time.process_time()
        model.fit(x[:, used], y)
        noise = np.std(y - model.predict(x[:, used]))
        residual = observed - model.predict(new[:, used])
        density = -0.5 * np.log(2 * np.pi * noise**2) - 0.5 * (residual / noise) ** 2
        found[name] = {
            "mse": float(np.mean(residual**2)),
            "log_predictive_density": float(np.mean(density)),
            "processor_seconds": time.process_time() - began,
        }
    return found


def _columns(path: str, train: str) -> tuple[np.ndarray, np.ndarray]:
    """Days, waves of day and week, distance, airports as codes, and their mean targets."""
    import pandas

    frame: Any = pandas.read_parquet(path)
    known: Any = pandas.read_parquet(train)
    days = (frame["date"] - pandas.Timestamp("2001-01-01")) / pandas.Timedelta(days=1)
    angles = [2 * np.pi * days / period for period in (1, 7)]
    waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    codes, means = [], []
    for name in ("origin", "destination"):
        frequent = known[name].value_counts().index[:250]
        codes.append(pandas.Categorical(frame[name], frequent).codes.astype(float))
        codes[-1][codes[-1] < 0] = np.nan
        by_level = known.groupby(name)[TARGET].mean()
        means.append(frame[name].map(by_level).fillna(known[TARGET].mean()))
    x = np.stack([days, *waves, frame["distance"], *codes, *means], axis=1).astype(float)
    return x, frame[TARGET].to_numpy(float)


if __name__ == "__main__":
    main()
