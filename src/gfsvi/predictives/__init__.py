"""Predictive distributions, one class per file."""

from gfsvi.predictives.categorical import CategoricalPredictive as CategoricalPredictive
from gfsvi.predictives.mixture import MixturePredictive as MixturePredictive
from gfsvi.predictives.normal import NormalPredictive as NormalPredictive
from gfsvi.predictives.warped import WarpedPredictive as WarpedPredictive
