"""The input and output of inference, on the standardised scale."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gfsvi.auto.holding_out import Apart
from gfsvi.auto.novelty import Novelty, VarianceShare
from gfsvi.auto.settings import Settings
from gfsvi.auto.units import Feature
from gfsvi.auto.unseen_rows import UnseenValues
from gfsvi.data import Data
from gfsvi.diagnostics import Diagnostic
from gfsvi.kernels.base import ActiveDimensions
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.streams.stream import Stream
from gfsvi.training.history import History


@dataclasses.dataclass(frozen=True)
class Problem:
    """Standardised rows, some of them held out, and the likelihood of their targets.

    Args:
        rows: All rows.
        apart: The rows that are held out, which may be none.
        likelihood: How the targets scatter around the function.
        features: What the features are, and how distances along them are converted.
        settings: The sizes of the fit.
        separate: Kernels of dates, one of which the prior may use for these.
        in_time_order: Whether the rows are, so that the prior has to use one of them.
        stream: The rows to train on, of which `rows` has a sample; None if it has all of them.
    """

    rows: Data
    apart: Apart
    likelihood: AbstractLikelihood
    features: tuple[Feature, ...]
    settings: Settings
    separate: tuple[ActiveDimensions, ...] = ()
    in_time_order: bool = False
    stream: Stream | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per feature."""
        return tuple(feature.name for feature in self.features)

    @property
    def data(self) -> Data:
        """The rows to train on."""
        return self.without(self.apart.all)

    @property
    def num_rows(self) -> int:
        """The number of all rows, held-out ones of a stream not counted."""
        return len(self.rows if self.stream is None else self.stream)

    @property
    def validation(self) -> Data | None:
        """The rows that decide when to stop, if there are any."""
        rows = self.apart.validation
        return self.rows.take(rows) if len(rows) else None

    @property
    def trained(self) -> np.ndarray:
        """Positions of the rows to train on."""
        return np.delete(np.arange(len(self.rows)), self.apart.all)

    def without(self, rows: np.ndarray) -> Data:
        """All rows but these."""
        if len(rows) == 0:
            return self.rows
        return self.rows.take(np.delete(np.arange(len(self.rows)), rows))

    @property
    def num_outputs(self) -> int:
        """The number of outputs that the function needs."""
        return self.likelihood.num_outputs(self.rows.y)


class Solution(NamedTuple):
    """The chosen prior, the posterior under it, and what is known about both.

    `unseen_values` has the function at training rows without what they taught, if that is known;
    `final` is the posterior after the held-out rows as well, if it has learned them.
    """

    prior: Model
    posterior: Model
    history: History
    novelty_measure: Novelty | VarianceShare
    diagnostics: tuple[Diagnostic, ...]
    unseen_values: UnseenValues | None = None
    final: Model | None = None

    @property
    def of_first_fit(self) -> dict[str, Any]:
        """All fields but the last."""
        fields = self._asdict()
        del fields["final"]
        return fields


Solve = Callable[[Problem], tuple[Model, Model]]
"""From a problem to its prior and posterior."""
