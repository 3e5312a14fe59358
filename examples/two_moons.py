"""Two moons: certain at the data, uncertain away from it.

python examples/two_moons.py [--output docs/pictures/two_moons.png]
"""

import argparse
from pathlib import Path

import jax
import matplotlib
import numpy as np
from sklearn.datasets import make_moons

from gfsvi import Data, Model, Training
from gfsvi.covariances import Kronecker
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Categorical
from gfsvi.methods import GFSVI
from gfsvi.model import Model as Posterior
from gfsvi.networks import MLP
from gfsvi.points import BatchRows, LowDiscrepancy, Mixture
from gfsvi.training import Adam


def fit(num_steps: int = 800) -> tuple[Posterior, Data]:
    """A softmax network under an RBF prior on its logits."""
    x, y = make_moons(100, noise=0.1, random_state=0)
    data = Data(np.asarray(x), np.asarray(y))
    model = Model(GaussianProcess(RBF(0.8, variance=300.0), outputs=2), Categorical())
    points = Mixture((BatchRows(50), LowDiscrepancy(50, -4.0, 4.0)))
    training = Training(num_steps=num_steps, optimizer=Adam(1e-2), evaluate_every=250)
    method = GFSVI(MLP((100, 100), outputs=2), Kronecker(), points, gamma=1e-8, training=training)
    return method(model, data, key=jax.random.key(0)).posterior, data


def main() -> None:
    """Fit, report the entropies, draw the plane."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/pictures/two_moons.png"))
    arguments = parser.parse_args()
    posterior, data = fit()
    far = np.array([[-4.0, -4.0], [-4.0, 4.0], [4.0, -4.0], [4.0, 4.0]])
    at_data = posterior.predict(data.x)
    accuracy = np.mean(at_data.predicted == data.y)
    print(f"accuracy at the data {accuracy:.3f}")
    print(f"mean entropy at the data {np.mean(at_data.entropy):.3f} nat")
    print(f"smallest entropy far away {np.min(posterior.predict(far).entropy):.3f} nat")
    draw(posterior, data, arguments.output)
    print(f"picture: {arguments.output}")


def draw(posterior: Posterior, data: Data, path: Path) -> None:
    """Mean probability, twice its standard deviation, and the predictive entropy."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    side = np.linspace(-4, 4, 81)
    plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    predictive = posterior.predict(plane)
    maps = {
        "probability of class 1": (predictive.probabilities[:, 1], "RdBu_r", 1.0),
        "2 standard deviations": (2 * predictive.std[:, 1], "cividis", 1.0),
        "entropy, nat": (predictive.entropy, "cividis", np.log(2)),
    }
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
    for axes, (title, (values, colours, top)) in zip(panels, maps.items(), strict=True):
        shown = values.reshape(81, 81)
        image = axes.pcolormesh(side, side, shown, cmap=colours, vmin=0, vmax=top)
        figure.colorbar(image, ax=axes)
        for label, marker in ((0, "o"), (1, "^")):
            rows = data.x[data.y == label]
            axes.plot(rows[:, 0], rows[:, 1], marker, ms=4, mfc="white", mec="black", mew=0.8)
        axes.set_title(title)
        axes.set_xlabel("x1")
    panels[0].set_ylabel("x2")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
