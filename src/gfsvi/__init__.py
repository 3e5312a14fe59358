"""Bayesian neural networks with Gaussian-process priors."""

from gfsvi.data import Data as Data
from gfsvi.model import Model as Model
from gfsvi.training import Fit as Fit
from gfsvi.training import Training as Training

__version__ = "0.1.0"
