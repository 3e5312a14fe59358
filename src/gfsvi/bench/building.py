"""Methods and priors from the settings of an experiment, which are names and numbers.

Experiment files and the identities of their runs outlive the fields of our classes: the names
`warm_up`, `gauss_newton`, `calibrate`, `leave_one_out`, `num_samples` and `num_outputs` of GFSVI,
and those of a training, are translated here.
"""

import dataclasses
import operator
import re
from typing import Any

import numpy as np

from gfsvi import registry
from gfsvi.auto.priors import blank_prior, chosen_prior, kernels_named
from gfsvi.auto.recipe import recipe_for
from gfsvi.bench.experiment import ExperimentError
from gfsvi.data import Data
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.calibration import HeldOut, MostProbable, NoCalibration
from gfsvi.inference.mean_fit import GaussNewtonMean, TrainedMean
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model
from gfsvi.networks.activations import ACTIVATIONS
from gfsvi.networks.base import AbstractNetwork
from gfsvi.training.optimizers import LBFGS, Adam, FullBatchUpTo
from gfsvi.training.settings import Training

START_NOISE = 0.3
PRIOR_SETTINGS = ("kernel", "lengthscales", "prior_scale", "network")
_LENGTHSCALES = ("own", "common")


def build_method(settings: dict[str, Any], of_task: tuple[str, ...] = ()) -> AbstractMethod:
    """The method that settings name; what they do not mention is its default.

    Args:
        settings: Names and numbers.
        of_task: Settings that say what the task is, not what the method is.
    """
    method = recipe_for(settings["method"]).method
    others = ("method", *PRIOR_SETTINGS, *of_task)
    changes = {n: v for n, v in settings.items() if n not in others}
    if "network" in settings and hasattr(method, "network"):
        changes["network"] = settings["network"]
    changes = _translated(method, changes)
    known = [field.name for field in dataclasses.fields(method)]
    for name in changes:
        if name not in known:
            raise ExperimentError(
                f"{type(method).__name__} expects the settings {', '.join(known)}; got {name!r}."
            )
    return dataclasses.replace(
        method, **{n: _value(n, v, getattr(method, n)) for n, v in changes.items()}
    )


def prior_for(
    method: AbstractMethod,
    data: Data,
    settings: dict[str, Any],
    key: Any,
    likelihood: AbstractLikelihood | None = None,
) -> Model:
    """The prior a method needs: over weights, or a Gaussian process that the data chose."""
    which = settings.get("lengthscales", "own")
    if which not in _LENGTHSCALES:
        raise ExperimentError(f'expected lengthscales = "own" or "common"; got {which!r}.')
    shape, common = np.shape(data.x)[1:], which == "common"
    (kernel,) = kernels_named(settings.get("kernel", "matern52"), shape, common=common)
    prior = blank_prior(
        method,
        Normal(START_NOISE) if likelihood is None else likelihood,
        data,
        kernel=kernel,
        network=build_network(settings.get("network", {})),
        scale=settings.get("prior_scale", 1.0),
    )
    return chosen_prior(prior, data, recipe_for(settings.get("method", "gfsvi")).choice, key=key)


def build_kernel(value: str | dict[str, Any]) -> AbstractKernel:
    """A kernel from its name, or from a table with its `name` and arguments."""
    return _member("kernels", value)


def build_network(settings: dict[str, Any]) -> AbstractNetwork:
    """A network from its `name` (else "mlp"), the name of its `activation` and its sizes."""
    chosen = dict(settings)
    kind = registry.find("networks", chosen.pop("name", "mlp"))
    if "activation" in chosen:
        name = chosen["activation"]
        if name not in ACTIVATIONS:
            raise ExperimentError(
                f"expected an activation named {', '.join(ACTIVATIONS)}; got {name!r}."
            )
        chosen["activation"] = ACTIVATIONS[name]
    return kind(**chosen)


def _translated(method: AbstractMethod, changes: dict[str, Any]) -> dict[str, Any]:
    """The names of experiment files as fields of the method."""
    changes = dict(changes)
    if "calibrate" in changes:
        leave_one_out = changes.pop("leave_one_out", False)
        changes["calibration"] = _calibration(changes.pop("calibrate"), leave_one_out)
    if not isinstance(method, GFSVI):
        return changes
    names = ("num_samples", "num_outputs")
    sampled = {name: changes.pop(name) for name in names if name in changes}
    if sampled:
        changes["subsampling"] = dataclasses.replace(method.subsampling, **sampled)
    if "warm_up" in changes or "gauss_newton" in changes:
        given = (changes.pop("warm_up", {}), changes.pop("gauss_newton", None))
        changes["mean"] = _mean_fit(method, *given)
    return changes


def _calibration(share: float | str, leave_one_out: bool) -> Any:
    if share == "most_probable":
        return MostProbable()
    return HeldOut(share, leave_one_out) if share else NoCalibration()


def _mean_fit(method: GFSVI, warm_up: Any, gauss_newton: bool | None) -> Any:
    if warm_up is False:
        return None
    auto = method.mean if isinstance(method.mean, AutoMean) else AutoMean()
    trained = TrainedMean(_training(auto.otherwise.training, warm_up))
    if gauss_newton is None:
        return dataclasses.replace(auto, otherwise=trained)
    return GaussNewtonMean() if gauss_newton else trained


def _value(name: str, value: Any, default: Any) -> Any:
    """What a value of a TOML file stands for."""
    if name == "network":
        return build_network(value)
    if isinstance(default, Training):
        return _training(default, value)
    collection = f"{'covariance' if name == 'structure' else name.removesuffix('s')}s"
    if collection in registry.collections() and isinstance(value, str | dict | list):
        return _member(collection, value)
    return value


_OF_ADAM = {"learning_rate": "learning_rate", "batch_size": "batch_size", "slow": "slow"}
_OF_ADAM["stretch"] = "max_step_multiplier"


def _training(default: Training, given: dict[str, Any]) -> Training:
    """The default with changes, of which `slow` is a path such as "function.params"."""
    changes = dict(given)
    optimizer = default.optimizer
    of_adam = {new: changes.pop(old) for old, new in _OF_ADAM.items() if old in changes}
    if isinstance(slow := of_adam.get("slow"), str):
        if not re.fullmatch(r"[a-z]\w*(\.[a-z]\w*)*", slow):
            raise ExperimentError(f'slow expects a path such as "function.params"; got {slow!r}.')
        of_adam["slow"] = operator.attrgetter(slow)
    if isinstance(optimizer, FullBatchUpTo):
        inner = dataclasses.replace(optimizer.otherwise, **of_adam)
        max_rows = changes.pop("all_at_once", optimizer.max_rows)
        optimizer = FullBatchUpTo(max_rows, inner)
    elif isinstance(optimizer, Adam):
        optimizer = dataclasses.replace(optimizer, **of_adam)
    if changes.pop("quasi_newton", False):
        optimizer = LBFGS()
    return dataclasses.replace(default, optimizer=optimizer, **changes)


def _member(collection: str, value: Any) -> Any:
    if isinstance(value, list):  # points of several kinds
        return registry.find(collection, "mixture")(tuple(_member(collection, v) for v in value))
    settings = {"name": value} if isinstance(value, str) else dict(value)
    return registry.find(collection, settings.pop("name"))(**settings)
