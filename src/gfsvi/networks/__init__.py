"""Networks: the library's own and those of other frameworks."""

from gfsvi.networks.adapters import as_network
from gfsvi.networks.cnn import CNN
from gfsvi.networks.equinox import EquinoxNetwork
from gfsvi.networks.flax_linen import LinenNetwork
from gfsvi.networks.flax_nnx import FlaxNNXNetwork
from gfsvi.networks.function import FunctionNetwork
from gfsvi.networks.haiku import HaikuNetwork
from gfsvi.networks.mlp import MLP

__all__ = [
    "CNN",
    "MLP",
    "EquinoxNetwork",
    "FlaxNNXNetwork",
    "FunctionNetwork",
    "HaikuNetwork",
    "LinenNetwork",
    "as_network",
]
