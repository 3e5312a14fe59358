"""How much sooner two workers finish the experiment on boston than one.

GFSVI_DATA=DIR python -m benchmarks.workers --json results/workers.json [METHOD ...]

A fold is run before and forgotten, so that both find programs compiled. Without names of methods
all of `experiments/regression.toml` are run, which takes about half an hour.
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
    """Of `gfsvi bench run` from its start to its end, into an empty folder."""
    chosen = [part for method in methods for part in ("--method", method)]
    with tempfile.TemporaryDirectory() as folder:
        command = ["bench", "run", str(EXPERIMENT), "--output", folder, "--quiet"]
        command += ["--dataset", "boston", "--workers", str(num_workers), *chosen, *options]
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "gfsvi.cli", *command], check=True)
        return time.perf_counter() - began


def main() -> None:
    """Time, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", help="only these")
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
