"""Speedup of two workers over one on the experiment on boston.

GFSVI_DATA=DIR python -m benchmarks.workers --json results/workers.json [METHOD ...]

One fold is run beforehand and discarded, so that both find compiled programs. Without names of
methods, all of `experiments/regression.toml` are run, which takes about half an hour.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXPERIMENT = Path(__file__).parents[1] / "experiments" / "regression.toml"


def seconds(num_workers: int, methods: list[str], *options: str) -> float:
    """Duration of `gfsvi bench run` into an empty folder."""
    chosen = [part for method in methods for part in ("--method", method)]
    with tempfile.TemporaryDirectory() as folder:
        command = ["bench", "run", str(EXPERIMENT), "--output", folder, "--quiet"]
        command += ["--dataset", "boston", "--workers", str(num_workers), *chosen, *options]
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "gfsvi.cli", *command], check=True)
        return time.perf_counter() - began


def main() -> None:
    """Time one and two workers, print the result and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", help="methods to run; by default all")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    seconds(2, arguments.methods, "--fold", "0")
    one, two = (seconds(count, arguments.methods) for count in (1, 2))
    found = {"methods": arguments.methods or "all", "one_worker": one, "two_workers": two}
    text = json.dumps(found | {"times_faster": one / two}, indent=1)
    print(text)
    if arguments.json is not None:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
