"""The first minute: how long commands and imports take, in units of importing JAX and Equinox.

python -m benchmarks.import_time [--repeats 5] [--json]

Every time is that of a whole process, the fastest of several, taken in turns with
`python -c "import jax, equinox"` so that load affects all. Python's bytecode is kept, as in any
installation, and so are the programs that a command compiles: times are those of a second run.
The model is that of `gfsvi fit` on scikit-learn's diabetes table; the 1,000 rows are its rows
repeated.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn.datasets import load_diabetes

UNIT = ("-c", "import jax, equinox")
LIMITS = {
    "help": 0.2,
    "unknown_option": 0.3,
    "missing_file": 0.3,
    "missing_target": 0.3,
    "import_gfsvi": 1.2,
    "predict_1000_rows": 1.7,
}
"""The largest ratio that is wanted; other ratios are only reported."""
TABLE, ROWS, MODEL = "table.csv", "rows.csv", "model.gfsvi"


def commands() -> dict[str, Sequence[str]]:
    """The arguments of Python for everything that is timed."""
    cli = ("-m", "gfsvi.cli")
    fit = (*cli, "fit", "--output", "other.gfsvi")
    return {
        "help": (*cli, "--help"),
        "list_methods": (*cli, "list", "methods"),
        "unknown_option": (*fit, TABLE, "--target", "y", "--unknown"),
        "missing_file": (*fit, "nowhere.csv", "--target", "y"),
        "missing_target": (*fit, TABLE, "--target", "no such column"),
        "import_gfsvi": ("-c", "import gfsvi"),
        "import_model": ("-c", "from gfsvi import Data, Model, Training"),
        "import_estimators": ("-c", "from gfsvi import GFSVIRegressor"),
        "predict_1000_rows": (*cli, "predict", MODEL, ROWS, "--output", "predictions.csv"),
        "evaluate": (*cli, "evaluate", MODEL, ROWS),
    }


def write_tables(folder: Path) -> None:
    """The table that is fitted, and 1,000 rows to predict."""
    bunch: Any = cast(Any, load_diabetes(scaled=False))
    cells = np.column_stack([bunch.data, bunch.target])
    header = ",".join([*bunch.feature_names, "y"])
    repeated = cells[np.arange(1000) % len(cells)]
    for name, rows in ((TABLE, cells), (ROWS, repeated)):
        np.savetxt(folder / name, rows, "%.10g", ",", header=header, comments="")


def seconds(arguments: Sequence[str], folder: Path) -> float:
    """Time of one process."""
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    environment["GFSVI_CACHE"] = str(folder / "cache")
    command = [sys.executable, *arguments]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    elapsed = time.perf_counter() - began
    if done.returncode not in (0, 2) or "Traceback" in done.stderr:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return elapsed


def measured(repeats: int) -> dict[str, float]:
    """Seconds of everything, the unit included, after one run that is not counted."""
    chosen = {"unit": UNIT, **commands()}
    best = dict.fromkeys(chosen, float("inf"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_tables(folder)
        fit = ("-m", "gfsvi.cli", "fit", TABLE, "--target", "y", "--output", MODEL, "--quiet")
        seconds(fit, folder)
        for turn in range(repeats + 1):
            for name, arguments in chosen.items():
                elapsed = seconds(arguments, folder)
                best[name] = min(best[name], elapsed) if turn > 0 else best[name]
    return best


def main() -> None:
    """Print the ratio of each time to the unit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    times = measured(arguments.repeats)
    ratios = {name: times[name] / times["unit"] for name in commands()}
    if arguments.json:
        print(json.dumps({"ratios": ratios, "limits": LIMITS, "seconds": times}))
        return
    print(f"importing JAX and Equinox takes {times['unit']:.2f} s")
    for name, ratio in ratios.items():
        limit = f"of at most {LIMITS[name]}" if name in LIMITS else ""
        print(f"{name:<18} {times[name]:6.2f} s {ratio:6.2f} {limit}".rstrip())


if __name__ == "__main__":
    main()
