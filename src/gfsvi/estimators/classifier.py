"""Classification on a table of numbers."""

from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gfsvi.estimators.base import AbstractEstimator, refuse
from gfsvi.estimators.chosen_method import AbstractChosenMethod
from gfsvi.predictives.categorical import CategoricalPredictive


class AbstractClassifier(ClassifierMixin, AbstractEstimator):
    """Labels predicted with probabilities that know where they come from."""

    @property
    def _task(self) -> Literal["regression", "classification"]:
        return "classification"

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn from rows `X` and their labels."""
        refuse(unsupported, self)
        X, y = self._rows_and_targets(X, y, ensure_min_samples=2)
        check_classification_targets(y)
        return self._fit_rows(X, np.asarray(y))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each row."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        return np.asarray(self.predict_distribution(X).probabilities)

    def predict_distribution(self, X: Any) -> CategoricalPredictive:
        """The distribution of the label at each row, as class numbers."""
        x = self._standardized(X)
        return cast(CategoricalPredictive, self.posterior_.predict(x))

    def class_numbers(self, y: Any) -> np.ndarray:
        """Labels as positions in `classes_`."""
        check_is_fitted(self)
        numbers = np.searchsorted(self.classes_, y)
        known = self.classes_[np.minimum(numbers, len(self.classes_) - 1)] == np.asarray(y)
        if not np.all(known):
            strange = np.asarray(y)[~known][0]
            raise ValueError(
                f"expected labels among {', '.join(map(repr, self.classes_.tolist()))}; got "
                f"{strange!r}. Leave out rows with labels that were not learned."
            )
        return numbers


class GFSVIClassifier(AbstractClassifier):
    """Labels predicted with probabilities that know where they come from."""


class BayesianClassifier(AbstractClassifier, AbstractChosenMethod):
    """Classification by any method, chosen by name or given: "laplace", "mfvi", `Laplace(...)`."""
