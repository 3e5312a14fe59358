"""Random functions: Gaussian processes and networks, as priors and as posteriors."""

from gfsvi.functions.base import AbstractRandomFunction as AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork as BayesianNetwork
from gfsvi.functions.conditioned_process import ConditionedProcess as ConditionedProcess
from gfsvi.functions.conjugate_network import ConjugateNetwork as ConjugateNetwork
from gfsvi.functions.ensemble import Ensemble as Ensemble
from gfsvi.functions.feature_function import FeatureFunction as FeatureFunction
from gfsvi.functions.gaussian_process import GaussianProcess as GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork as LinearizedNetwork
from gfsvi.functions.means import AbstractMean as AbstractMean
from gfsvi.functions.network_mean_process import NetworkMeanProcess as NetworkMeanProcess
from gfsvi.functions.sparse_process import SparseProcess as SparseProcess
