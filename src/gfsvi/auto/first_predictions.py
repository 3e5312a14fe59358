"""Predictions of held-out rows, made before these rows were learned as well."""

import dataclasses

import numpy as np
from jaxtyping import Int

from gfsvi.auto.targets import Labels, Numbers
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive

MOST_NUMBERS = 2_000_000
"""Of draws of class probabilities that are kept, 16 MB."""


@dataclasses.dataclass(frozen=True)
class FirstPredictions:
    """What a fit predicted for rows that it has learned since: the only honest scores of them.

    Args:
        rows: Sorted positions of the rows in the table.
        predictive: The predictions, on the user's scale.
    """

    rows: Int[np.ndarray, " row"]
    predictive: AbstractPredictive

    @classmethod
    def of(cls, rows: np.ndarray, predictive: AbstractPredictive) -> "FirstPredictions":
        """The predictions of these rows; of fewer if draws of many classes would fill a file."""
        if isinstance(predictive, CategoricalPredictive):
            num_samples, _, num_classes = np.shape(predictive.log_draws)
            most = max(1, MOST_NUMBERS // (num_samples * num_classes))
            some = np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int)
            rows, predictive = rows[some], CategoricalPredictive(predictive.log_draws[:, some])
        return cls(rows, predictive)

    def check(self, target: Numbers | Labels) -> None:
        """Raise unless there is a prediction of such a target for each row."""
        found = self.predictive
        if isinstance(target, Labels):
            if not isinstance(found, CategoricalPredictive):
                raise ValueError("predictions of numbers for labels")
            is_alike = found.log_draws.shape[1:] == (len(self.rows), len(target.classes))
        else:
            if not isinstance(found, AbstractRealPredictive):
                raise ValueError("predictions of labels for numbers")
            is_alike = found.mean.shape == (len(self.rows), *np.shape(target.centre))
        if not is_alike or np.any(self.rows < 0) or np.any(np.diff(self.rows) <= 0):
            raise ValueError("predictions of other rows")
