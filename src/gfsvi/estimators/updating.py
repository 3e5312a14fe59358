"""Estimators that learn further rows without another fit."""

import warnings
from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight

from gfsvi.auto import updates
from gfsvi.auto.updates import Updates
from gfsvi.estimators.base import AbstractEstimator

Rows = tuple[ArrayLike, np.ndarray, np.ndarray | None]


class AbstractUpdatingEstimator(AbstractEstimator):
    """An estimator whose posterior, if it is in closed form, takes up rows and gives them back."""

    @property
    def updates_(self) -> Updates | None:
        """What has been learned since the fit; None if nothing has."""
        return self.fitted_.updates

    @property
    def needs_retraining_(self) -> bool:
        """Whether the latest rows of `partial_fit` are too unlike those of the fit."""
        return any(found.name == updates.NAME for found in self.diagnostics_)

    def forget(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows out again, as if they had never been learned: the inverse of `partial_fit`.

        Inputs, targets and weights have to be those that were learned.
        """
        return self._with(self.fitted_.forget(*self._further_rows(X, y, sample_weight)))

    @abstractmethod
    def _further_targets(self, y: ArrayLike) -> np.ndarray:
        """Targets as the fit wants them."""

    def _learn_further(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn rows, and warn once if they have outgrown the fit."""
        did_need = self.needs_retraining_
        self._with(self.fitted_.condition_on(*self._further_rows(X, y, sample_weight)))
        if self.needs_retraining_ and not did_need:
            found = next(found for found in self.diagnostics_ if found.name == updates.NAME)
            message = str(found).removeprefix("warning: ")
            warnings.warn(message, updates.RetrainWarning, stacklevel=3)
        return self

    def _further_rows(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Rows:
        rows, targets = self._known_rows(X), self._further_targets(y)
        check_consistent_length(rows, targets)
        if sample_weight is None:
            return rows, targets, None
        numbers = self.fitted_.rows(rows)
        weights = _check_sample_weight(sample_weight, numbers, ensure_non_negative=True)
        counted = weights > 0
        return numbers[counted], targets[counted], weights[counted]
