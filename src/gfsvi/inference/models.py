"""Models by the kind of their function, for annotations."""

from typing import TypeAlias

from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.ensemble import Ensemble
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model

ProcessModel: TypeAlias = Model[GaussianProcess, AbstractLikelihood]
"""A Gaussian-process prior over functions."""
WeightModel: TypeAlias = Model[BayesianNetwork, AbstractLikelihood]
"""A prior or posterior over the weights of a network."""
LinearizedModel: TypeAlias = Model[LinearizedNetwork, AbstractLikelihood]
"""A posterior over the weights of a network, linearised around their mean."""
EnsembleModel: TypeAlias = Model[Ensemble, AbstractLikelihood]
"""Networks at fixed weights."""
