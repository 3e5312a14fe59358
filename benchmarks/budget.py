"""Tables that are far larger than usual in one direction, each fitted within a time budget.

python -m benchmarks.budget [NAME ...] [--seconds 20] [--output results/budget.json]

Each table is made, written to a CSV file and fitted by `gfsvi fit --time-budget SECONDS` in a
process of its own, which may take a tenth longer plus the start of a process: that of
`gfsvi --help`. A model is usable if `gfsvi predict` answers the first rows with finite numbers.
Memory is the peak of the process that fits. `--seconds 0` fits without a budget. On a busy machine
`--processor` counts the time of a processor in place of that on the wall, both in the budget and in
what is measured: what a quiet core would show.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

OVERRUN = 1.1
NUM_PREDICTED = 100
CLI = (sys.executable, "-m", "gfsvi.cli")
BY_PROCESSOR = """
import sys, time
time.monotonic = time.perf_counter = time.process_time
from gfsvi.cli import main
sys.exit(main(sys.argv[1:]))
"""


def with_classes(num_classes: int, num_rows: int) -> pd.DataFrame:
    """Eight numbers, and a label that depends on two of them."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (num_rows, 8))
    angle = np.arctan2(x[:, 0], x[:, 1]) + 0.1 * random.normal(size=num_rows)
    ranks = np.argsort(np.argsort(angle))
    return _frame(x).assign(y=[f"class {i}" for i in ranks * num_classes // num_rows])


def with_columns(num_rows: int, num_columns: int) -> pd.DataFrame:
    """Numbers, five of which the target depends on."""
    random = np.random.default_rng(0)
    x = random.normal(size=(num_rows, num_columns)).round(4)
    return _frame(x).assign(y=np.sin(x[:, :5]).sum(axis=1) + 0.2 * random.normal(size=num_rows))


def with_texts(num_rows: int, num_texts: int) -> pd.DataFrame:
    """A text column with many values, each with its own effect, and three numbers."""
    random = np.random.default_rng(0)
    x, text = random.normal(size=(num_rows, 3)), random.integers(num_texts, size=num_rows)
    text[:num_texts] = np.arange(num_texts)
    y = x[:, 0] + random.normal(size=num_texts)[text] + 0.2 * random.normal(size=num_rows)
    return _frame(x).assign(text=[f"name {i}" for i in text], y=y)


def with_targets(num_rows: int, num_targets: int) -> pd.DataFrame:
    """Eight numbers, and targets that are sums of sines of them."""
    random = np.random.default_rng(0)
    x = random.normal(size=(num_rows, 8))
    y = np.sin(x) @ random.normal(size=(8, num_targets))
    y += 0.2 * random.normal(size=y.shape)
    return _frame(x).assign(**{f"y{i}": column for i, column in enumerate(y.T)})


def _frame(x: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(x, columns=[f"x{i}" for i in range(x.shape[1])])


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "100 classes": lambda: with_classes(100, 3000),
    "300 classes": lambda: with_classes(300, 6000),
    "5,000 columns": lambda: with_columns(500, 5000),
    "10,000 texts": lambda: with_texts(20_000, 10_000),
    "20,000 x 500": lambda: with_columns(20_000, 500),
    "50 targets": lambda: with_targets(1000, 50),
}


def measured(command: list[str], folder: Path) -> dict[str, Any]:
    """Exit code, seconds and peak memory of a process, and what it said."""
    began = time.perf_counter()
    with (folder / "said.txt").open("w") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "exit_code": process.returncode,
        "seconds": time.perf_counter() - began,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "mebibytes": usage.ru_maxrss / 1024,
        "said": (folder / "said.txt").read_text().splitlines(),
    }


def fitted(name: str, seconds: float, cli: tuple[str, ...], extra: list[str]) -> dict[str, Any]:
    """Fit one table and predict with the model."""
    with tempfile.TemporaryDirectory() as place:
        folder, frame = Path(place), TABLES[name]()
        frame.to_csv(folder / "table.csv", index=False)
        targets = [column for column in frame.columns if column.startswith("y")]
        frame[:NUM_PREDICTED].drop(columns=targets).to_csv(folder / "rows.csv", index=False)
        fit = [*cli, "fit", "table.csv", "--output", "model.gfsvi", *extra]
        fit += [word for target in targets for word in ("--target", target)]
        fit += ["--time-budget", str(seconds)] if seconds else []
        found = measured(fit, folder)
        predict = [*CLI, "predict", "model.gfsvi", "rows.csv", "--output", "predictions.csv"]
        found["usable"] = measured(predict, folder)["exit_code"] == 0 and _is_finite(folder)
    return {"table": name, **found}


def _is_finite(folder: Path) -> bool:
    numbers = pd.read_csv(folder / "predictions.csv").select_dtypes("number").to_numpy()
    return len(numbers) == NUM_PREDICTED and bool(np.all(np.isfinite(numbers)))


def start_of_process(which: str) -> float:
    """Seconds that a command takes to start, the fastest of three."""
    with tempfile.TemporaryDirectory() as place:
        return min(measured([*CLI, "--help"], Path(place))[which] for _ in range(3))


def main() -> int:
    """Fit every table and print what became of it; 1 if a fit was late or is not usable."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(TABLES))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--report", action="store_true", help="write the report page, too")
    parser.add_argument("--processor", action="store_true", help="count the processor's time")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    which = "processor_seconds" if arguments.processor else "seconds"
    cli = (sys.executable, "-c", BY_PROCESSOR) if arguments.processor else CLI
    limit = OVERRUN * arguments.seconds + start_of_process(which) if arguments.seconds else np.inf
    print(f"at most {limit:.1f} s", flush=True)
    records, extra = [], ["--report", "page.html"] if arguments.report else []
    for name in arguments.names or TABLES:
        found = fitted(name, arguments.seconds, cli, extra)
        found["in_time"] = found["exit_code"] == 0 and found[which] <= limit
        records.append(found)
        told = f"{found['seconds']:6.1f} s, {found['processor_seconds']:5.1f} s of a processor,"
        told += f" {found['mebibytes']:6.0f} MiB"
        told += f" in time: {found['in_time']!s:<5} usable: {found['usable']!s:<5}"
        print(f"{name:<14} {told}", *found["said"], sep="\n    ", flush=True)
    if arguments.output is not None:
        content = {"budget": arguments.seconds, "measured": which, "limit": limit}
        content["tables"] = records
        arguments.output.write_text(json.dumps(content, indent=1) + "\n")
    return int(not all(record["in_time"] and record["usable"] for record in records))


if __name__ == "__main__":
    raise SystemExit(main())
