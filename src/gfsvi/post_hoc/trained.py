"""Trained networks: what they compute, their weights, and how their targets scatter."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from typing import Any, NamedTuple

import jax
import numpy as np

from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.bernoulli import Bernoulli
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.networks.activations import ACTIVATIONS
from gfsvi.networks.adapters import as_network
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.flax_linen import LinenNetwork
from gfsvi.networks.foreign import AbstractForeignNetwork
from gfsvi.networks.function import FunctionNetwork
from gfsvi.networks.haiku import HaikuNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.types import Points

_WITHOUT_WEIGHTS = (LinenNetwork, HaikuNetwork)
_ACTIVATIONS = {"logistic": "sigmoid", "identity": "identity", "relu": "relu", "tanh": "tanh"}


class Trained(NamedTuple):
    """A network, its weights as they are, and the likelihood it was trained with, if known."""

    network: AbstractNetwork
    params: Params
    likelihood: AbstractLikelihood | None = None
    classes: np.ndarray | None = None

    def class_numbers(self, y: np.ndarray) -> np.ndarray:
        """Targets with labels as positions among the classes, if these are known."""
        if self.classes is None:
            return y
        numbers = np.searchsorted(self.classes, y)
        known = self.classes[np.minimum(numbers, len(self.classes) - 1)] == y
        if not np.all(known):
            raise ValueError(
                f"posterior_of expects labels that the classifier knows; got {y[~known][0]!r}. "
                "Pass rows of its own classes."
            )
        return numbers


def trained(network: object, params: Params | None, x: Points) -> Trained:
    """A network of any framework; `params` are needed where it does not hold them itself."""
    if hasattr(network, "coefs_") and hasattr(network, "intercepts_"):
        return _of_scikit_learn(network)
    if not isinstance(network, AbstractNetwork) and callable(network) and params is not None:
        network = _framework_of(network) or FunctionNetwork(network, params)
    adapter = as_network(network)
    if params is not None:
        return Trained(adapter, _weights(adapter, params))
    if not isinstance(adapter, AbstractForeignNetwork) or isinstance(adapter, _WITHOUT_WEIGHTS):
        raise ValueError(
            f"posterior_of expects the weights of a {type(network).__name__}, which does not hold "
            "them itself; got none. Pass params=..."
        )
    return Trained(adapter, adapter.first_params(np.asarray(x[:1]), jax.random.key(0)))


def _framework_of(network: object) -> AbstractNetwork | None:
    """The adapter of a known framework, or None for a plain function."""
    try:
        return as_network(network)
    except TypeError:
        return None


def _weights(network: AbstractNetwork, params: Params) -> Params:
    """The weights; linen's variables hold them under "params"."""
    is_linen = isinstance(network, LinenNetwork) and isinstance(params, dict)
    return params["params"] if is_linen and set(params) == {"params"} else params


def _of_scikit_learn(estimator: Any) -> Trained:
    """A fitted `MLPRegressor` or `MLPClassifier`."""
    pairs = zip(estimator.coefs_, estimator.intercepts_, strict=True)
    matrices = tuple(np.concatenate([matrix, bias[None]]) for matrix, bias in pairs)
    hidden = tuple(matrix.shape[1] for matrix in matrices[:-1])
    activation = ACTIVATIONS[_ACTIVATIONS[estimator.activation]]
    network = MLP(hidden, matrices[-1].shape[1], activation)
    if estimator.out_activation_ == "exp":
        raise ValueError(
            "posterior_of expects a scikit-learn network of numbers or labels; got one with "
            'loss="poisson". Pass coefs_ as params of a network, and likelihood="poisson".'
        )
    known = {"logistic": Bernoulli(), "softmax": Categorical(matrices[-1].shape[1])}
    likelihood = known.get(estimator.out_activation_)
    return Trained(network, matrices, likelihood, getattr(estimator, "classes_", None))
