"""Wide tables and many outputs: seconds and memory of `gfsvi fit`.

python -m benchmarks.wide [--output results/wide.json]

2,000 columns and 5,000 rows; 200 classes and 20,000 rows; 50 targets and 5,000 rows. Each made
table is fitted by a process of its own, by the command line with its defaults.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.flights import run_measured

TABLES = ("columns", "classes", "targets")


def made(name: str) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Inputs, names of targets, and targets."""
    random = np.random.default_rng(0)
    if name == "columns":
        x = random.normal(size=(5000, 2000))
        y = np.sin(x[:, :3]).sum(axis=1) + x[:, 3:20] @ random.normal(size=17) / 4
        return x, ["y"], (y + 0.3 * random.normal(size=5000))[:, None]
    if name == "classes":
        x, centres = random.normal(size=(20_000, 10)), random.normal(size=(200, 10))
        squares = (x**2).sum(1)[:, None] - 2 * x @ centres.T + (centres**2).sum(1)
        labels = np.array([f"class {number:03d}" for number in range(200)])
        return x, ["y"], labels[np.argmin(squares, axis=1)][:, None]
    x = random.normal(size=(5000, 10))
    y = np.sin(x @ random.normal(size=(10, 50))) + 0.1 * random.normal(size=(5000, 50))
    return x, [f"y{number}" for number in range(50)], y


def measured(name: str) -> dict[str, Any]:
    """One fit of a made table."""
    import pandas

    x, targets, y = made(name)
    with tempfile.TemporaryDirectory() as folder:
        frame = pandas.DataFrame(x, columns=[f"x{number}" for number in range(x.shape[1])])
        values = {target: y[:, place] for place, target in enumerate(targets)}
        frame = pandas.concat([frame, pandas.DataFrame(values)], axis=1)
        frame.to_parquet(f"{folder}/table.parquet", index=False)
        chosen = [word for target in targets for word in ("--target", target)]
        words = ["fit", f"{folder}/table.parquet", *chosen, "-o", f"{folder}/m.gfsvi", "-q"]
        return {"load": os.getloadavg()[0], **run_measured(words)}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("-o", "--output", type=Path, default=Path("results/wide.json"))
    arguments = parser.parse_args()
    known = json.loads(arguments.output.read_text()) if arguments.output.exists() else {}
    for name in arguments.tables:
        known[name] = measured(name)
        print(name, json.dumps(known[name]), flush=True)
        arguments.output.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
