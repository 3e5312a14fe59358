"""Judge a fit by rows that it has not seen, and have it learn these rows afterwards."""

import dataclasses
from typing import NamedTuple

import numpy as np

from gfsvi.auto.first_predictions import FirstPredictions
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.holding_out import future_held_out
from gfsvi.auto.quality import judged_rows, quality
from gfsvi.auto.within_budget import over_budget
from gfsvi.data import Data
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.clock import Clock
from gfsvi.tables import TimeOrder


class Examination(NamedTuple):
    """The rows of a fit, and which of them it is judged by.

    Args:
        rows: All rows on the user's scale, with labels as class numbers.
        positions: Their positions in the user's table.
        held_out: Which of them were held out; if none, all rows judge, each left out if possible.
        order: The order in time whose latest rows were held out, if they were.
        method: The method of the fit.
    """

    rows: Data
    positions: np.ndarray
    held_out: np.ndarray
    order: TimeOrder | None
    method: type[AbstractMethod]

    def concluded(self, fitted: Fitted, final: Model | None, clock: Clock) -> Fitted:
        """The fit with what its predictions and the clock say of it.

        `final` is the posterior after the held-out rows as well, if it has learned them: it then
        takes the place of the one that was judged.
        """
        found, unseen, first = (), None, None
        if final is not None or not clock.is_over():
            is_future = self.order is not None
            judged = judged_rows(fitted, self.rows, self.held_out, self.method, is_future)
            found, unseen = quality(judged, fitted), judged.unseen
            first = FirstPredictions.of(self.positions[judged.rows], judged.predictive)
        late = over_budget(clock.spent, clock.seconds)
        found = found if late is None else (*found, late)
        if self.order is not None and len(self.held_out):
            found = (*found, future_held_out(self.order, len(self.held_out), final is not None))
        found = (*found, *fitted.diagnostics)
        fitted = dataclasses.replace(fitted, diagnostics=found, unseen=unseen)
        if final is None:
            return fitted
        return dataclasses.replace(fitted, posterior=final, first_predictions=first)
