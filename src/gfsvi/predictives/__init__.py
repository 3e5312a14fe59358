"""Predictive distributions, one class per file."""

from gfsvi.predictives.base import AbstractConditional as AbstractConditional
from gfsvi.predictives.base import AbstractPredictive as AbstractPredictive
from gfsvi.predictives.base import AbstractRealPredictive as AbstractRealPredictive
from gfsvi.predictives.base import ResponseDraws as ResponseDraws
from gfsvi.predictives.base import Responses as Responses
from gfsvi.predictives.base import library_layout as library_layout
from gfsvi.predictives.base import user_layout as user_layout
from gfsvi.predictives.categorical import CategoricalPredictive as CategoricalPredictive
from gfsvi.predictives.mixture import MixturePredictive as MixturePredictive
from gfsvi.predictives.normal import NormalPredictive as NormalPredictive
from gfsvi.predictives.normal_mixture import (
    NormalMixturePredictive as NormalMixturePredictive,
)
from gfsvi.predictives.student import StudentPredictive as StudentPredictive
from gfsvi.predictives.warped import WarpedPredictive as WarpedPredictive
