"""Methods and priors from the settings of an experiment, which are names and numbers."""

import dataclasses
import operator
from typing import Any

import numpy as np

from gfsvi import registry
from gfsvi.bench.experiment import ExperimentError
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.lengthscales import with_common_lengthscale, with_own_lengthscales
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.networks.activations import ACTIVATIONS
from gfsvi.networks.base import AbstractNetwork
from gfsvi.training.settings import Training

START_NOISE = 0.3
PRIOR_SETTINGS = ("kernel", "lengthscales", "prior_scale", "network")
LENGTHSCALES = {"own": with_own_lengthscales, "common": with_common_lengthscale}


def build_method(settings: dict[str, Any], of_task: tuple[str, ...] = ()) -> AbstractMethod:
    """The method that settings name; what they do not mention is its default.

    Args:
        settings: Names and numbers.
        of_task: Those of them that say what the task is, not what the method is.
    """
    kind = registry.find("methods", settings["method"])
    method = kind()
    others = ("method", *PRIOR_SETTINGS, *of_task)
    changes = {n: v for n, v in settings.items() if n not in others}
    if "network" in settings and hasattr(method, "network"):
        changes["network"] = settings["network"]
    known = [field.name for field in dataclasses.fields(kind)]
    for name in changes:
        if name not in known:
            raise ExperimentError(
                f"{kind.__name__} expects the settings {', '.join(known)}; got {name!r}."
            )
    return dataclasses.replace(
        method, **{n: _value(n, v, getattr(method, n)) for n, v in changes.items()}
    )


def prior_for(method: AbstractMethod, data: Data, settings: dict[str, Any], key: Any) -> Model:
    """The prior a method needs: over weights, or a Gaussian process that the data chose."""
    if method.prior_kind is BayesianNetwork:
        network = build_network(settings.get("network", {}))
        scale = settings.get("prior_scale", 1.0)
        return Model(BayesianNetwork.prior(network, data.x, scale=scale), Normal(START_NOISE))
    kind = registry.find("kernels", settings.get("kernel", "matern52"))
    which = settings.get("lengthscales", "own")
    if which not in LENGTHSCALES:
        raise ExperimentError(f'expected lengthscales = "own" or "common"; got {which!r}.')
    kernel = LENGTHSCALES[which](kind, np.shape(data.x)[1])
    model = Model(GaussianProcess(kernel), Normal(START_NOISE))
    return EmpiricalBayes()(model, data, key=key).posterior


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


def _value(name: str, value: Any, default: Any) -> Any:
    """What a value of a TOML file stands for."""
    if name == "network":
        return build_network(value)
    if isinstance(default, Training):
        return None if value is False else _training(default, value)
    collection = f"{'covariance' if name == 'structure' else name.removesuffix('s')}s"
    if collection in registry.collections():
        return _member(collection, value)
    return value


def _training(default: Training, changes: dict[str, Any]) -> Training:
    """The default with changes, of which `slow` is a path such as "function.params"."""
    slow = changes.get("slow")
    picked = {} if slow is None else {"slow": operator.attrgetter(slow)}
    return dataclasses.replace(default, **(changes | picked))


def _member(collection: str, value: Any) -> Any:
    if isinstance(value, list):  # points of several kinds
        return registry.find(collection, "mixture")(tuple(_member(collection, v) for v in value))
    settings = {"name": value} if isinstance(value, str) else dict(value)
    return registry.find(collection, settings.pop("name"))(**settings)
