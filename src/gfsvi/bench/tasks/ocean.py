"""Ocean currents from a few drifters, under a prior that separates divergence and rotation."""

import dataclasses
from typing import Any

import jax
import numpy as np

from gfsvi import metrics
from gfsvi.bench.building import build_method
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.data import Data
from gfsvi.fields import HelmholtzKernel, HelmholtzNetwork, field_of, rows_at
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.rbf import RBF
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.exact_gp import ExactGP
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.points import FixedPoints, LowDiscrepancy

NUM_STARTS = 4
START_NOISE = 0.1
NUM_PLACES = 160
"""Measurement points; both components are compared at each."""


class Ocean(AbstractTask):
    """Velocities on a grid, learned from drifters without standardisation.

    Every method uses the kernel parameters and the noise that maximise the marginal likelihood of
    the exact process. With `learn_noise`, each method continues from that noise by its own
    objective.
    """

    settings = ("learn_noise",)

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        table = arrays[run.dataset]
        places = table["test_X"]
        centre = (places.min(axis=0) + places.max(axis=0)) / 2
        data = Data(rows_at(table["train_X"] - centre), np.ravel(table["train_Y"]))
        rows, y = rows_at(places - centre), np.ravel(table["test_Y"])
        # The evidence does not depend on the seed, so neither does its optimum.
        process = most_probable_process(data)
        key = jax.random.key(run.seed)
        posterior = _fitted(self._method(run, rows), run.settings, process, data, key)
        predictive = posterior.predict(rows)
        mean = np.asarray(predictive.mean)
        speed = np.linalg.norm(field_of(mean), axis=1)
        return {
            "expected_log_likelihood": metrics.expected_log_likelihood(predictive, y),
            "log_predictive_density": metrics.log_predictive_density(predictive, y),
            "mse": metrics.mse(predictive, y),
            "coverage": metrics.coverage(predictive, y),
            "noise": float(np.mean(np.asarray(posterior.likelihood.noise))),
            "mean_std": float(np.mean(predictive.epistemic_std)),
            "places": places,
            "velocity": field_of(mean),
            "speed": speed,
            "squared_error": np.sum(np.square(field_of(mean - y)), axis=1),
            "truth": table["test_Y"],
            "drifters": table["train_X"],
        }

    def _method(self, run: Run, rows: np.ndarray) -> AbstractMethod:
        """The method with a network of fields and the measurement points common to all methods."""
        method = build_method(run.settings, of_task=self.settings)
        changes = {"network": HelmholtzNetwork(), "points": _places_in_box_of(rows[:, :2])}
        if not run.settings.get("learn_noise", False):
            changes["fixed"] = _noise
        fields = {field.name for field in dataclasses.fields(method)}
        return dataclasses.replace(method, **{n: v for n, v in changes.items() if n in fields})


def most_probable_process(data: Data) -> Model:
    """The process whose kernel and noise maximise the marginal likelihood of the drifters."""
    model = Model(GaussianProcess(HelmholtzKernel(RBF(), RBF())), Normal(START_NOISE))
    fit = ExactGP(num_starts=NUM_STARTS)(model, data, key=jax.random.key(0))
    return Model(fit.posterior.function.prior, fit.posterior.likelihood)


def _fitted(
    method: AbstractMethod, settings: dict[str, Any], process: Model, data: Data, key: Any
) -> Model:
    prior = process
    if method.prior_kind is BayesianNetwork:
        scale = settings.get("prior_scale", 1.0)
        function = BayesianNetwork.prior(HelmholtzNetwork(), data.x, scale=scale)
        prior = Model(function, process.likelihood)
    return method(prior, data, key=key).posterior


def _places_in_box_of(positions: np.ndarray) -> FixedPoints:
    lower, upper = positions.min(axis=0), positions.max(axis=0)
    box = LowDiscrepancy(NUM_PLACES, lower, upper).bind(positions)
    return FixedPoints(rows_at(box.draw(positions, key=jax.random.key(0))))


def _noise(model: Model) -> Any:
    return model.likelihood
