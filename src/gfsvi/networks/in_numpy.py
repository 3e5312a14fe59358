"""Networks that can be evaluated in NumPy, without compiling anything."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.mlp import MLP
from gfsvi.networks.torch import TorchNetwork
from gfsvi.plain.networks import LinearizedInNumpy, TanhNetwork


def is_in_numpy(network: AbstractNetwork) -> bool:
    """Whether a network has a form in NumPy."""
    return isinstance(network, MLP) and network.activation is jnp.tanh


def network_in_numpy(network: AbstractNetwork, params: Params) -> LinearizedInNumpy | None:
    """The same network in NumPy; None if it has no such form, or its weights are traced."""
    if isinstance(network, TorchNetwork):
        return network.in_numpy(params)
    return tanh_network(network, params)


def tanh_network(network: AbstractNetwork, params: Params) -> TanhNetwork | None:
    """A multilayer perceptron with tanh in NumPy; None for others, or if weights are traced."""
    leaves = jax.tree.leaves(params)
    if not is_in_numpy(network) or any(isinstance(leaf, Tracer) for leaf in leaves):
        return None
    return TanhNetwork(tuple(np.asarray(matrix, np.float64) for matrix in leaves))
