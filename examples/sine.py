"""The paper's sine under three priors, next to the exact Gaussian-process posterior.

python examples/sine.py [--output docs/pictures/sine.png] [--json results/sine.json]
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path

import jax
import matplotlib
import numpy as np

from gfsvi import Data, Model
from gfsvi.covariances import ClosedForm, Diagonal, Kronecker
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Matern12, Periodic
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, ExactGP
from gfsvi.metrics import wasserstein2_squared
from gfsvi.networks import MLP
from gfsvi.points import LowDiscrepancy
from gfsvi.training import Adam
from gfsvi.training.settings import Training

GRID = np.linspace(-2, 2, 401)[:, None]
# A periodic process has few directions; at gamma = 1e-10 a network cannot move in them.
PRIORS: dict[str, tuple[AbstractKernel, float]] = {
    "RBF, length scale 0.3": (RBF(0.3), 1e-10),
    "Matern-1/2, length scale 0.3": (Matern12(0.3), 1e-10),
    "Periodic, period 1": (Periodic(lengthscale=1.0, period=1.0), 1e-6),
}
FAMILIES = {
    "closed form": (ClosedForm(), None),
    "kronecker": (Kronecker(), Training(num_steps=6000, optimizer=Adam(1e-2), evaluate_every=500)),
    "diagonal": (
        Diagonal(0.03),
        Training(num_steps=7000, optimizer=Adam(2e-2), evaluate_every=500),
    ),
}


def sine(num_rows: int = 100) -> Data:
    """y = sin(2 pi x) + 0.1 noise, observed on [-1, -1/2] and [1/2, 1]."""
    random = np.random.default_rng(0)
    side = np.repeat([-1.0, 1.0], num_rows // 2)
    x = side * random.uniform(0.5, 1, num_rows)
    return Data(x[:, None], np.sin(2 * np.pi * x) + 0.1 * random.normal(size=num_rows))


def compare(kernel: AbstractKernel, gamma: float, family: str, data: Data) -> dict:
    """Fit a network and the exact process under one prior; how far apart they are."""
    model = Model(GaussianProcess(kernel), Normal(0.1))
    key = jax.random.key(0)
    exact = ExactGP()(model, data, key=key).posterior.predict(GRID)
    covariance, training = FAMILIES[family]
    method = GFSVI(
        MLP((30, 30)),
        covariance,
        LowDiscrepancy(100, -2.0, 2.0),
        gamma,
        fixed=lambda model: model.likelihood,
    )
    if training is not None:
        method = dataclasses.replace(method, training=training)
    start = time.perf_counter()
    fit = method(model, data, key=key)
    seconds = time.perf_counter() - start
    fitted = fit.posterior.predict(GRID)
    distance = wasserstein2_squared(
        fitted.mean, fitted.epistemic_std, exact.mean, exact.epistemic_std
    )
    return {
        "inside": float(np.mean(distance[np.abs(GRID[:, 0]) <= 1])),
        "everywhere": float(np.mean(distance)),
        "seconds": seconds,
        "fitted": fitted,
        "exact": exact,
        "function": fit.posterior.function,
    }


def draw(results: dict[str, dict], data: Data, path: Path) -> None:
    """One column a prior: the network above, the exact process below."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        2,
        len(results),
        figsize=(4 * len(results), 5),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for column, (name, result) in enumerate(results.items()):
        pairs = (("fitted", "GFSVI, 2x30 tanh network"), ("exact", "exact Gaussian process"))
        for axes, (key, title) in zip(panels[:, column], pairs, strict=True):
            predictive, x = result[key], GRID[:, 0]
            low = predictive.mean - 2 * predictive.epistemic_std
            high = predictive.mean + 2 * predictive.epistemic_std
            axes.fill_between(x, low, high, color="#56b4e9", alpha=0.35, lw=0, label="2 std")
            axes.plot(x, predictive.mean, color="#0072b2", lw=1.8, label="mean")
            axes.plot(data.x[:, 0], data.y, ".", color="0.25", ms=3, label="data")
            axes.set_title(f"{name}\n{title}" if key == "fitted" else title, fontsize=10)
            axes.grid(alpha=0.2)
    for axes in panels[-1]:
        axes.set_xlabel("x")
    panels[0, 0].set_ylim(-3.2, 3.2)
    panels[0, 0].legend(loc="lower left", fontsize=8, ncols=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Compare, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/pictures/sine.png"))
    parser.add_argument("--json", type=Path, help="write the distances to this file")
    arguments = parser.parse_args()
    data = sine()
    results = {name: compare(*prior, "closed form", data) for name, prior in PRIORS.items()}
    rows = {f"{name}, closed form": result for name, result in results.items()}
    smooth = "RBF, length scale 0.3"
    for family in ("kronecker", "diagonal"):
        rows[f"{smooth}, {family}"] = compare(*PRIORS[smooth], family, data)
    for name, row in rows.items():
        print(
            f"{name}: squared Wasserstein-2 {row['inside']:.5f} for |x| <= 1, "
            f"{row['everywhere']:.4f} on [-2, 2], {row['seconds']:.0f} s"
        )
    draw(results, data, arguments.output)
    print(f"picture: {arguments.output}")
    if arguments.json:
        kept = ("inside", "everywhere", "seconds")
        table = {name: {key: row[key] for key in kept} for name, row in rows.items()}
        arguments.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
