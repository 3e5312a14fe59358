"""What a new user waits for: from a fresh clone through `make demo` and the first two tutorials.

python -m benchmarks.stopwatch [--revision HEAD] [--label after] [--output results/stopwatch.json]

The repository is cloned into a temporary folder, where `make` installs into an environment of its
own; compiled programs are kept in that folder, too, so that nothing is there before. Each line is a
wait: a target of make, or a cell of a tutorial that takes a second or longer. Seconds are those of
this machine, as busy as it is; `unit` is importing JAX and Equinox there, to compare runs by.
Tutorials are those of the revision. `--label` is a name for the state that was measured; other
labels in the file stay.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TUTORIALS = ("table", "prior_knowledge")
SHORTEST = 1.0
HERE = Path(__file__).parents[1]


def seconds_of(command: list[str], folder: Path) -> float:
    """Run a command in a folder; its time."""
    environment = os.environ | {"GFSVI_CACHE": str(folder.parent / "cache"), "MPLBACKEND": "Agg"}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    elapsed = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return elapsed


def waits_in(tutorial: Path) -> list[tuple[str, float]]:
    """The cells of a tutorial by their last lines, with their times; runs in this process."""
    spec = importlib.util.spec_from_file_location("tutorials", HERE / "docs/site/tutorials.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("docs/site/tutorials.py")
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for cell in site.cells(tutorial):
            if cell.kind == "prose":
                continue
            began = time.perf_counter()
            site._in_shell(cell.text) if cell.kind == "bash" else site._in_python(cell.text, names)
            found.append((cell.text.strip().splitlines()[-1], time.perf_counter() - began))
        os.chdir(HERE)
    return found


def measured(revision: str) -> list[dict[str, Any]]:
    """All waits, in order."""
    with tempfile.TemporaryDirectory() as place:
        clone = Path(place) / "clone"
        git = ["git", "clone", "--quiet", str(HERE), str(clone)]
        waits = [("git clone", seconds_of(git, Path(place)))]
        seconds_of(["git", "checkout", "--quiet", revision], clone)
        waits.append(("make demo: the environment", seconds_of(["make", ".venv/.ready"], clone)))
        waits.append(("make demo: the demo", seconds_of(["make", "demo"], clone)))
        waits.append(("make demo, again", seconds_of(["make", "demo"], clone)))
        python = str(clone / ".venv/bin/python")
        for name in TUTORIALS:
            path = clone / "docs" / "learn" / f"{name}.py"
            command = [python, "-m", "benchmarks.stopwatch", "--tutorial", str(path)]
            environment = os.environ | {"GFSVI_CACHE": str(Path(place) / "cache")}
            environment |= {"MPLBACKEND": "Agg", "PYTHONPATH": str(clone)}
            done = subprocess.run(
                command, cwd=HERE, capture_output=True, text=True, env=environment, check=True
            )
            cells = json.loads(done.stdout.splitlines()[-1])
            long = [(f"{name}: {text}", taken) for text, taken in cells if taken >= SHORTEST]
            waits += [*long, (f"{name}, all of it", sum(taken for _, taken in cells))]
        unit = min(seconds_of([python, "-c", "import jax, equinox"], clone) for _ in range(3))
    return [{"wait": "unit", "seconds": unit}, *({"wait": w, "seconds": s} for w, s in waits)]


def main() -> None:
    """Measure, print a table, and add it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument("--label", default="after")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--tutorial", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tutorial is not None:
        print(json.dumps(waits_in(arguments.tutorial)))
        return
    waits = measured(arguments.revision)
    for wait in waits:
        print(f"{wait['seconds']:7.1f} s  {wait['wait']}")
    if arguments.output is not None:
        path = arguments.output
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(known | {arguments.label: waits}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
