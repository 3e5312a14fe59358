"""Classification in the plane: the probability of a class and its standard deviation."""

from typing import Any

import numpy as np

from gfsvi.bench.building import build_kernel, build_method, build_network
from gfsvi.bench.experiment import Run
from gfsvi.bench.tables import key_of
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods.bernoulli import Bernoulli
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gp_classifier import GPClassifier
from gfsvi.model import Model

SIDE = np.linspace(-4, 4, 41)
PLANE = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)
CORNERS = np.array([[-4.0, -4.0], [-4.0, 4.0], [4.0, -4.0], [4.0, 4.0]])
NUM_CLASSES = 2


class Plane(AbstractTask):
    """Two classes of points in the plane, under a given prior on the logits."""

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        table = arrays[run.dataset]
        data = Data(table["X"], table["y"])
        network = {**run.settings.get("network", {}), "outputs": NUM_CLASSES}
        settings = run.settings | {"network": network}
        method = build_method(settings)
        prior = _prior(method, data, settings)
        posterior = method(prior, data, key=key_of(run)).posterior
        near, far = posterior.predict(data.x), posterior.predict(CORNERS)
        everywhere = posterior.predict(PLANE)
        return {
            "accuracy": float(np.mean(np.asarray(near.predicted) == data.y)),
            "entropy_at_data": float(np.mean(near.entropy)),
            "entropy_far_away": float(np.mean(far.entropy)),
            "side": SIDE,
            "probability": np.asarray(everywhere.probabilities)[:, 1],
            "std": np.asarray(everywhere.std)[:, 1],
            "data_x": np.asarray(data.x),
            "data_y": np.asarray(data.y),
        }


def _prior(method: AbstractMethod, data: Data, settings: dict[str, Any]) -> Model:
    if method.prior_kind is BayesianNetwork:
        network = build_network(settings["network"])
        scale = settings.get("prior_scale", 1.0)
        return Model(BayesianNetwork.prior(network, data.x, scale=scale), Categorical())
    kernel: AbstractKernel = build_kernel(settings["kernel"])
    if isinstance(method, GPClassifier):
        # One latent function with the prior of the difference between the two logits.
        return Model(GaussianProcess(2.0 * kernel), Bernoulli())
    return Model(GaussianProcess(kernel, outputs=NUM_CLASSES), Categorical())
