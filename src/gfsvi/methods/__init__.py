"""Inference: each method maps a model and data to a model."""

from gfsvi.methods.empirical_bayes import EmpiricalBayes as EmpiricalBayes
from gfsvi.methods.exact_gp import ExactGP as ExactGP
from gfsvi.methods.gfsvi import GFSVI as GFSVI
