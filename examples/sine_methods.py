"""Every method on the paper's sine, under a smooth and a rough prior, next to the exact process.

python examples/sine_methods.py [--output docs/pictures/sine_methods.png]
    [--json results/sine_methods.json]

Methods with a prior over weights do not know of kernels: they are fitted once, and shown in both
rows. The number above each panel is the squared Wasserstein-2 distance to the exact posterior of
that row, averaged over [-2, 2].
"""

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import matplotlib
import numpy as np

from gfsvi import Data, Model
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.kernels import RBF, Matern12
from gfsvi.likelihoods import Normal
from gfsvi.method import AbstractMethod
from gfsvi.methods import FVI, GFSVI, GWI, MFVI, TFSVI, VIP, ExactGP, Laplace, SparseGP
from gfsvi.metrics import wasserstein2_squared
from gfsvi.networks import MLP
from gfsvi.points import BatchRows, LowDiscrepancy, Mixture
from gfsvi.training import Training

GRID = np.linspace(-2, 2, 401)[:, None]
NETWORK = MLP((30, 30))
PRIORS = {"RBF": RBF(0.3), "Matern-1/2": Matern12(0.3)}
BOX = LowDiscrepancy(100, -2.0, 2.0)
NETWORK_METHODS = ("GFSVI", "FVI", "TFSVI", "MFVI", "VIP", "Laplace", "GWI")


def noise_known(model: Model) -> Any:
    """What stays as it is: the noise of 0.1 is given."""
    return model.likelihood


def training(num_steps: int, learning_rate: float = 1e-2) -> Training:
    """Without validation rows: all of the steps."""
    return Training(num_steps=num_steps, learning_rate=learning_rate, evaluate_every=500)


METHODS: dict[str, tuple[AbstractMethod, float]] = {
    # The scales of weights are the paper's (its appendix on toy data).
    "GFSVI": (
        GFSVI(NETWORK, points=BOX, training=training(6000), fixed=noise_known),
        1.0,
    ),
    "FVI": (
        FVI(
            NETWORK,
            points=Mixture((BatchRows(40), LowDiscrepancy(40, -2.0, 2.0))),
            training=training(1500),
            fixed=noise_known,
        ),
        1.0,
    ),
    "TFSVI": (TFSVI(points=BOX, training=training(2000), fixed=noise_known), 0.2),
    "MFVI": (MFVI(training=training(4000), fixed=noise_known), 0.75),
    "VIP": (VIP(training=training(2000), fixed=noise_known), 1.0),
    "Laplace": (Laplace(), 0.75),
    "GWI": (GWI(NETWORK), 1.0),
    "sparse GP": (SparseGP(), 1.0),
    "exact GP": (ExactGP(), 1.0),
}


def sine(num_rows: int = 100) -> Data:
    """y = sin(2 pi x) + 0.1 noise, observed on [-1, -1/2] and [1/2, 1]."""
    random = np.random.default_rng(0)
    side = np.repeat([-1.0, 1.0], num_rows // 2)
    x = side * random.uniform(0.5, 1, num_rows)
    return Data(x[:, None], np.sin(2 * np.pi * x) + 0.1 * random.normal(size=num_rows))


def fitted(name: str, kernel: Any, data: Data) -> Any:
    """The posterior of one method at the grid."""
    method, scale = METHODS[name]
    if method.prior_kind is BayesianNetwork:
        prior = Model(BayesianNetwork.prior(NETWORK, data.x, scale=scale), Normal(0.1))
    else:
        prior = Model(GaussianProcess(kernel), Normal(0.1))
    return method(prior, data, key=jax.random.key(0)).posterior.predict(GRID)


def distance(predictive: Any, exact: Any) -> float:
    """The squared Wasserstein-2 distance between functions, averaged over the grid."""
    pairs = (predictive.mean, predictive.epistemic_std, exact.mean, exact.epistemic_std)
    return float(np.mean(wasserstein2_squared(*pairs)))


def compare(data: Data) -> dict[str, dict[str, Any]]:
    """Every method under every prior; those that know no kernels are fitted once."""
    results: dict[str, dict[str, Any]] = {prior: {} for prior in PRIORS}
    for name, (method, _) in METHODS.items():
        shared = None
        for prior, kernel in PRIORS.items():
            if method.prior_kind is BayesianNetwork and shared is not None:
                results[prior][name] = shared
                continue
            shared = results[prior][name] = fitted(name, kernel, data)
            print(f"{name}, {prior}", flush=True)
    return results


def draw(results: dict[str, dict[str, Any]], data: Data, path: Path) -> None:
    """One row a prior, one column a method."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        len(results),
        len(METHODS),
        figsize=(17, 4.4),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for row, (prior, by_method) in zip(panels, results.items(), strict=True):
        for axes, (name, predictive) in zip(row, by_method.items(), strict=True):
            low = predictive.mean - 2 * predictive.epistemic_std
            high = predictive.mean + 2 * predictive.epistemic_std
            x = GRID[:, 0]
            axes.fill_between(x, low, high, color="#56b4e9", alpha=0.35, lw=0, label="2 std")
            axes.plot(x, predictive.mean, color="#0072b2", lw=1.5, label="mean")
            axes.plot(data.x[:, 0], data.y, ".", color="0.25", ms=2, label="data")
            far = distance(predictive, by_method["exact GP"])
            axes.set_title(name if name == "exact GP" else f"{name}: {far:.3f}", fontsize=10)
            axes.grid(alpha=0.2)
        row[0].set_ylabel(f"{prior} prior")
    panels[0, 0].set_ylim(-3.2, 3.2)
    panels[0, 0].legend(loc="lower left", fontsize=7)
    for axes in panels[-1]:
        axes.set_xlabel("x")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def main() -> None:
    """Compare, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/pictures/sine_methods.png"))
    parser.add_argument("--json", type=Path, help="write the distances to this file")
    arguments = parser.parse_args()
    data = sine()
    results = compare(data)
    distances = {
        prior: {name: distance(p, by_method["exact GP"]) for name, p in by_method.items()}
        for prior, by_method in results.items()
    }
    for prior, row in distances.items():
        closest = min(NETWORK_METHODS, key=lambda name: row[name])
        shown = ", ".join(f"{name} {value:.4f}" for name, value in row.items())
        print(f"{prior}: {shown}; closest network {closest}")
    draw(results, data, arguments.output)
    print(f"picture: {arguments.output}")
    if arguments.json:
        arguments.json.write_text(json.dumps(distances, indent=1) + "\n")


if __name__ == "__main__":
    main()
