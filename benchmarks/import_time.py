"""Time to import gfsvi relative to importing only jax and equinox.

python -m benchmarks.import_time --json
"""

import argparse
import json
import subprocess
import sys


def seconds(modules: str, repeats: int = 5) -> float:
    """Import time in seconds: the fastest of several fresh processes."""
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    ours, base = seconds("gfsvi"), seconds("jax, equinox")
    result = {"gfsvi_over_jax_and_equinox": ours / base, "gfsvi": ours, "jax_and_equinox": base}
    print(json.dumps(result) if arguments.json else result)


if __name__ == "__main__":
    main()
