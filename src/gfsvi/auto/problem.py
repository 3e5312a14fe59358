"""The input and output of inference, on the standardised scale."""

import dataclasses
from typing import NamedTuple

import numpy as np

from gfsvi.auto.novelty import Novelty, VarianceShare
from gfsvi.auto.settings import Settings
from gfsvi.auto.units import Feature
from gfsvi.data import Data
from gfsvi.diagnostics import Diagnostic
from gfsvi.kernels.base import ActiveDimensions
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.training.history import History


@dataclasses.dataclass(frozen=True)
class Problem:
    """Standardised rows, some of them held out, and the likelihood of their targets.

    Args:
        rows: All rows.
        validation_rows: Positions of the held-out rows, which may be none.
        likelihood: How the targets scatter around the function.
        features: What the features are, and how distances along them are converted.
        settings: The sizes of the fit.
        separate: Kernels of dates, one of which the prior may use for these.
        in_time_order: Whether the rows are, so that the prior has to use one of them.
    """

    rows: Data
    validation_rows: np.ndarray
    likelihood: AbstractLikelihood
    features: tuple[Feature, ...]
    settings: Settings
    separate: tuple[ActiveDimensions, ...] = ()
    in_time_order: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per feature."""
        return tuple(feature.name for feature in self.features)

    @property
    def data(self) -> Data:
        """The rows to train on."""
        if len(self.validation_rows) == 0:
            return self.rows
        return self.rows.take(np.delete(np.arange(len(self.rows)), self.validation_rows))

    @property
    def validation(self) -> Data | None:
        """The held-out rows, if there are any."""
        return self.rows.take(self.validation_rows) if len(self.validation_rows) else None

    @property
    def num_outputs(self) -> int:
        """The number of outputs that the function needs."""
        return self.likelihood.num_outputs(self.rows.y)


class Solution(NamedTuple):
    """The chosen prior, the posterior under it, and what is known about both."""

    prior: Model
    posterior: Model
    history: History
    novelty_measure: Novelty | VarianceShare
    diagnostics: tuple[Diagnostic, ...]
