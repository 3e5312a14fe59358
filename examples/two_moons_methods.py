"""Two moons by every method: mean probability above, two standard deviations below.

python examples/two_moons_methods.py [--output docs/pictures/two_moons_methods.png]
    [--json results/two_moons_methods.json]

The exact process has no closed form for labels: the Laplace approximation stands for it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import matplotlib
import numpy as np
from sklearn.datasets import make_moons

from gfsvi import Data, Model, Training
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Bernoulli, Categorical
from gfsvi.method import AbstractMethod
from gfsvi.methods import FVI, GFSVI, GWI, MFVI, TFSVI, VIP, GPClassifier, Laplace, SparseGP
from gfsvi.networks import MLP
from gfsvi.points import BatchRows, LowDiscrepancy, Mixture

NETWORK = MLP((100, 100), outputs=2)
POINTS = Mixture((BatchRows(50), LowDiscrepancy(50, -4.0, 4.0)))
SIDE = np.linspace(-4, 4, 61)
PLANE = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
FAR = np.array([[-4.0, -4.0], [-4.0, 4.0], [4.0, -4.0], [4.0, 4.0]])


def training(num_steps: int) -> Training:
    """Without validation rows: all of the steps."""
    return Training(num_steps=num_steps, learning_rate=1e-2, evaluate_every=100)


METHODS: dict[str, tuple[AbstractMethod, float]] = {
    # The scales of weights are the paper's (its appendix on toy data).
    "GFSVI": (GFSVI(NETWORK, points=POINTS, gamma=1e-8, training=training(800)), 1.0),
    "FVI": (FVI(NETWORK, points=POINTS, training=training(600)), 1.0),
    "TFSVI": (TFSVI(points=POINTS, training=training(400)), 1.0),
    "MFVI": (MFVI(training=training(2000)), 0.8),
    "VIP": (VIP(training=training(1000)), 1.0),
    "Laplace": (Laplace(), 1.0),
    "GWI": (GWI(NETWORK), 1.0),
    "sparse GP": (SparseGP(), 1.0),
    "GP, Laplace": (GPClassifier(), 1.0),
}


def fitted(name: str, data: Data) -> Model:
    """The posterior of one method."""
    method, scale = METHODS[name]
    prior = GaussianProcess(RBF(0.8, variance=300.0), outputs=2)
    model = Model(prior, Categorical())
    if method.prior_kind is BayesianNetwork:
        model = Model(BayesianNetwork.prior(NETWORK, data.x, scale=scale), Categorical())
    if isinstance(method, GPClassifier):
        # One latent function with the prior of the difference between the two logits.
        model = Model(GaussianProcess(RBF(0.8, variance=600.0)), Bernoulli())
    return method(model, data, key=jax.random.key(0, impl="rbg")).posterior


def judged(posterior: Model, data: Data) -> dict[str, float]:
    """How well the data are fitted, and how unsure the model is far away."""
    near, far = posterior.predict(data.x), posterior.predict(FAR)
    return {
        "accuracy": float(np.mean(near.predicted == data.y)),
        "entropy_at_data": float(np.mean(near.entropy)),
        "entropy_far_away": float(np.mean(far.entropy)),
    }


def draw(posteriors: dict[str, Model], data: Data, path: Path) -> None:
    """One column a method."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        2, len(posteriors), figsize=(17, 4.2), sharex=True, sharey=True, layout="constrained"
    )
    images: list[Any] = [None, None]
    for column, (name, posterior) in zip(panels.T, posteriors.items(), strict=True):
        predictive = posterior.predict(PLANE)
        maps = (predictive.probabilities[:, 1], 2 * predictive.std[:, 1])
        for row, (axes, values, colours) in enumerate(
            zip(column, maps, ("RdBu_r", "cividis"), strict=True)
        ):
            shown = values.reshape(len(SIDE), len(SIDE))
            images[row] = axes.pcolormesh(SIDE, SIDE, shown, cmap=colours, vmin=0, vmax=1)
            for label, marker in ((0, "o"), (1, "^")):
                rows = data.x[data.y == label]
                axes.plot(rows[:, 0], rows[:, 1], marker, ms=3, mfc="white", mec="black", mew=0.6)
        column[0].set_title(name, fontsize=10)
    figure.colorbar(images[0], ax=panels[0], label="probability of class 1")
    figure.colorbar(images[1], ax=panels[1], label="2 standard deviations")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def main() -> None:
    """Fit, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/pictures/two_moons_methods.png"))
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    data = Data(*make_moons(100, noise=0.1, random_state=0))
    posteriors, rows = {}, {}
    for name in METHODS:
        posteriors[name] = fitted(name, data)
        rows[name] = judged(posteriors[name], data)
        print(name, {key: round(value, 3) for key, value in rows[name].items()}, flush=True)
    draw(posteriors, data, arguments.output)
    print(f"picture: {arguments.output}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
