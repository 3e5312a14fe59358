"""Random functions: the Gaussian process, its exact posterior, and the linearised network."""

from gfsvi.functions.conditioned_process import ConditionedProcess as ConditionedProcess
from gfsvi.functions.gaussian_process import GaussianProcess as GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork as LinearizedNetwork
