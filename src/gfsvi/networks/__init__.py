"""Networks: the library's own, and adapters for other frameworks."""

from gfsvi.networks.adapters import as_network as as_network
from gfsvi.networks.base import AbstractNetwork as AbstractNetwork
from gfsvi.networks.base import Inputs as Inputs
from gfsvi.networks.base import Outputs as Outputs
from gfsvi.networks.base import Params as Params
from gfsvi.networks.cnn import CNN as CNN
from gfsvi.networks.equinox import EquinoxNetwork as EquinoxNetwork
from gfsvi.networks.flax_linen import LinenNetwork as LinenNetwork
from gfsvi.networks.flax_nnx import FlaxNNXNetwork as FlaxNNXNetwork
from gfsvi.networks.function import FunctionNetwork as FunctionNetwork
from gfsvi.networks.haiku import HaikuNetwork as HaikuNetwork
from gfsvi.networks.layered import AbstractAffineStage as AbstractAffineStage
from gfsvi.networks.layered import AbstractLayeredNetwork as AbstractLayeredNetwork
from gfsvi.networks.layered import AbstractStage as AbstractStage
from gfsvi.networks.mlp import MLP as MLP
from gfsvi.networks.torch import TorchNetwork as TorchNetwork
