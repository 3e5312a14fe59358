"""Models by the kind of their function, for annotations."""

from typing import TypeAlias, TypeVar

from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.ensemble import Ensemble
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model

K = TypeVar("K", bound=AbstractLikelihood)
"""The kind of the likelihood."""

GPModel: TypeAlias = Model[GaussianProcess, K]
"""A Gaussian-process prior over functions."""
BNNModel: TypeAlias = Model[BayesianNetwork, K]
"""A prior or posterior over the weights of a network."""
LinearizedModel: TypeAlias = Model[LinearizedNetwork, K]
"""A posterior over the weights of a network, linearised around their mean."""
EnsembleModel: TypeAlias = Model[Ensemble, K]
"""Networks at fixed weights."""
