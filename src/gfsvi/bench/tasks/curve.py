"""Functions of one input: a posterior on a grid beside the exact one."""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi import metrics
from gfsvi.bench.building import build_kernel, build_method, build_network
from gfsvi.bench.experiment import Run
from gfsvi.bench.tables import function_moments
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.data import Data
from gfsvi.functions.base import draw_values
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.exact_gp import ExactGP
from gfsvi.model import Model
from gfsvi.numerics.precision import double

GRID = np.linspace(-2, 2, 161)[:, None]
NUM_DRAWS = 4
GAP = 0.4
"""Half the width of the central part of the gap between observations."""


class Curve(AbstractTask):
    """Noisy values of a function with a gap, under a given prior and with known noise."""

    settings = ("noise",)

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        posterior, process, data, key = posterior_of(run, arrays[run.dataset], self.settings)
        exact = ExactGP()(process, data, key=key).posterior
        ours, theirs = (function_moments(model, GRID, key) for model in (posterior, exact))
        distance = metrics.wasserstein2_squared(*ours, *theirs)
        inside = np.abs(GRID[:, 0]) <= 1
        middle = np.abs(GRID[:, 0]) <= GAP
        drawn = draw_values(posterior.function, GRID, NUM_DRAWS, key=jax.random.key(1))
        return {
            "wasserstein2": float(np.mean(distance)),
            "wasserstein2_inside": float(np.mean(distance[inside])),
            "std_in_gap": float(np.mean(ours[1][middle])),
            "std_at_data": float(np.mean(ours[1][inside & (np.abs(GRID[:, 0]) >= 0.5)])),
            "roughness": roughness(np.asarray(drawn)[:, 0]),
            "x": GRID[:, 0],
            "mean": ours[0],
            "std": ours[1],
            "exact_mean": theirs[0],
            "exact_std": theirs[1],
            "draws": np.asarray(drawn)[:, 0],
            "data_x": np.asarray(data.x)[:, 0],
            "data_y": np.asarray(data.y),
        }


class Fitted(NamedTuple):
    """A posterior, and the process, data and key it was fitted from."""

    posterior: Model
    process: Model
    data: Data
    key: PRNGKeyArray


def posterior_of(run: Run, arrays: Arrays, of_task: tuple[str, ...]) -> Fitted:
    """The posterior of a run's method for noisy values with known noise.

    Args:
        run: A run whose settings name a kernel and optionally the noise.
        arrays: Inputs, function values and noise of unit variance.
        of_task: See `build_method`.
    """
    noise = float(run.settings.get("noise", 0.1))
    data = Data(arrays["X"], arrays["f"] + noise * arrays["noise"])
    process = Model(GaussianProcess(build_kernel(run.settings["kernel"])), Normal(noise))
    method = build_method(run.settings, of_task=of_task)
    if "fixed" in {field.name for field in dataclasses.fields(method)}:
        method = dataclasses.replace(method, fixed=lambda model: model.likelihood)
    prior = process
    if method.prior_kind is BayesianNetwork:
        prior = Model(_weight_prior(run.settings, data), process.likelihood)
    key = jax.random.key(run.fold + 1000 * run.seed)
    return Fitted(method(prior, data, key=key).posterior, process, data, key)


def _weight_prior(settings: dict[str, Any], data: Data) -> BayesianNetwork:
    network = build_network(settings.get("network", {}))
    return BayesianNetwork.prior(network, data.x, scale=settings.get("prior_scale", 1.0))


def roughness(draws: np.ndarray) -> float:
    """Second differences of drawn functions on the grid, relative to first differences."""
    bends = np.diff(draws, n=2, axis=1)
    return float(np.sqrt(np.mean(bends**2) / np.mean(np.diff(draws, axis=1) ** 2)))
