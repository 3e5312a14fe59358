"""How time and memory of a fit in closed form grow with rows, points, weights and outputs.

python -m benchmarks.growth --json results/growth.json [--picture docs/pictures/growth_fit.png]

Each fit runs in a process of its own, on made tables of eight features: noisy sums of sines. One of
the four sizes grows at a time; the others are 1,000 rows, 500 points, two layers of 100 units and
one output. Seconds are those of `GFSVI` given a prior, after the imports; memory is the peak of
the process less what the imports take.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

USUAL = {"rows": 1000, "points": 500, "width": 100, "outputs": 1}
GROWN = {
    "rows": (250, 1000, 4000, 16_000, 64_000),
    "points": (125, 250, 500, 1000),
    "width": (25, 50, 100, 200, 400),
    "outputs": (1, 2, 4, 8, 16),
}


ROWS = (
    ("seconds", "#0072b2", (0.5, 1, 2, 5, 10)),
    ("megabytes", "#d55e00", (50, 100, 200, 400)),
)
"""The rows of the picture: what is shown, its colour and its ticks."""


def measure(rows: int, points: int, width: int, outputs: int) -> dict[str, float]:
    """Seconds and megabytes of one fit."""
    import jax

    from gfsvi import Data, Model
    from gfsvi.covariances import ClosedForm
    from gfsvi.functions import GaussianProcess
    from gfsvi.kernels import Matern52
    from gfsvi.likelihoods import Normal
    from gfsvi.methods import GFSVI
    from gfsvi.networks import MLP

    random = np.random.default_rng(0)
    x = random.normal(size=(rows, 8))
    y = np.sin(x) @ random.normal(size=(8, outputs)) + 0.1 * random.normal(size=(rows, outputs))
    prior = Model(GaussianProcess(Matern52(3.0), outputs=outputs), Normal(np.full(outputs, 0.1)))
    method = GFSVI(MLP((width, width), outputs), ClosedForm(max_rows=points))
    before = _peak()
    began = time.perf_counter()
    method(prior, Data(x, y), key=jax.random.key(0))
    return {"seconds": time.perf_counter() - began, "megabytes": _peak() - before}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def grown() -> dict[str, list[dict[str, float]]]:
    """Measurements by the size that grows."""
    found: dict[str, list[dict[str, float]]] = {}
    for name, sizes in GROWN.items():
        found[name] = []
        for size in sizes:
            given = json.dumps({**USUAL, name: size})
            command = [sys.executable, "-m", "benchmarks.growth", "--one", given]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[name].append({"size": size, **json.loads(done.stdout)})
            print(name, found[name][-1], file=sys.stderr, flush=True)
    return found


def draw(found: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Seconds and megabytes against each size, on logarithmic axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 4, figsize=(11, 5), sharey="row", constrained_layout=True)
    for column, (name, runs) in enumerate(found.items()):
        sizes = [run["size"] for run in runs]
        for row, (what, colour, ticks) in enumerate(ROWS):
            axes = panels[row, column]
            axes.loglog(sizes, [max(run[what], 1e-3) for run in runs], "o-", color=colour)
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=9, rotation=30)
            axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=9)
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            if column == 0:
                axes.set_ylabel(what)
        panels[1, column].set_xlabel({"width": "units per layer"}.get(name, name))
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", type=json.loads, help="sizes of a single fit")
    parser.add_argument("--json", type=Path, help="where to write the measurements")
    parser.add_argument("--picture", type=Path, help="where to draw them")
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measure(**arguments.one)))
        return
    found = grown()
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    if arguments.picture is not None:
        draw(found, arguments.picture)


if __name__ == "__main__":
    main()
