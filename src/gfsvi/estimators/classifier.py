"""Classifiers."""

import dataclasses
from typing import ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gfsvi.auto.parameters import MethodParameters
from gfsvi.auto.targets import Labels
from gfsvi.estimators.base import AbstractEstimator
from gfsvi.predictives.categorical import CategoricalPredictive


class AbstractClassifier(ClassifierMixin, AbstractEstimator):
    """A classifier that predicts probabilities."""

    task: ClassVar[Literal["regression", "classification"]] = "classification"

    @property
    def classes_(self) -> np.ndarray:
        """The labels, in the order of the columns of `predict_proba`."""
        return np.array(cast(Labels, self.fitted_.target).classes)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit rows `X` and labels `y`; a row of weight two counts like the same row twice."""
        X, y = self._rows_and_targets(X, y, ensure_min_samples=2)
        check_classification_targets(y)
        return self._fit_rows(X, np.asarray(y), sample_weight)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The most probable label of each row."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """The probability of each class, in the order of `classes_`."""
        return np.asarray(self.predict_distribution(X).probabilities)

    def predict_distribution(self, X: ArrayLike) -> CategoricalPredictive:
        """The distribution of the label at each row, as class numbers."""
        rows = self._known_rows(X)
        return cast(CategoricalPredictive, self.fitted_.predict(rows))

    def class_numbers(self, y: ArrayLike) -> np.ndarray:
        """Labels as positions in `classes_`."""
        check_is_fitted(self)
        classes = self.classes_
        numbers = np.searchsorted(classes, y)
        known = classes[np.minimum(numbers, len(classes) - 1)] == np.asarray(y)
        if not np.all(known):
            unknown = np.asarray(y)[~known][0]
            raise ValueError(
                f"expected labels among {', '.join(map(repr, classes.tolist()))}; got "
                f"{unknown!r}. Leave out rows with labels that were not in training."
            )
        return numbers


@dataclasses.dataclass(eq=False, repr=False)
class GFSVIClassifier(AbstractClassifier):
    """Classification by a Bayesian neural network with a Gaussian-process prior."""

    kernel: str | object = "auto"


@dataclasses.dataclass(eq=False, repr=False)
class BayesianClassifier(AbstractClassifier, MethodParameters):
    """Classification by any method, chosen by name or given: "laplace", "mfvi", `Laplace(...)`."""
