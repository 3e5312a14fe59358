"""Conversion of networks from other frameworks."""

from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.equinox import EquinoxNetwork
from gfsvi.networks.flax_linen import LinenNetwork
from gfsvi.networks.flax_nnx import FlaxNNXNetwork
from gfsvi.networks.haiku import HaikuNetwork
from gfsvi.networks.torch import TorchNetwork

# Frameworks are recognised by the modules of their classes, so that none has to be installed.
_ADAPTERS = {
    "equinox": EquinoxNetwork,
    "flax.nnx": FlaxNNXNetwork,
    "flax.linen": LinenNetwork,
    "haiku": HaikuNetwork,
    "torch": TorchNetwork,
}


def as_network(network: object) -> AbstractNetwork:
    """Wrap a network of Equinox, Flax, Haiku or PyTorch; the library's own are returned as is."""
    if isinstance(network, AbstractNetwork):
        return network
    for ancestor in type(network).__mro__:
        for home, adapter in _ADAPTERS.items():
            if f"{ancestor.__module__}.".startswith(f"{home}."):
                return adapter(network)
    raise TypeError(
        "as_network expects an Equinox module, a Flax NNX or linen module, a Haiku transformed "
        f"function, a PyTorch module or a network of this library; got {type(network).__name__}. "
        "For a function use FunctionNetwork(apply, params), or HaikuNetwork(function) if it uses "
        "Haiku modules."
    )
