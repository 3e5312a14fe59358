"""Classifiers."""

import dataclasses
from typing import ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gfsvi.auto.parameters import MethodParameters
from gfsvi.auto.targets import Labels
from gfsvi.estimators.updating import AbstractUpdatingEstimator
from gfsvi.estimators.validation import check_level
from gfsvi.predictives.categorical import CategoricalPredictive


class AbstractClassifier(ClassifierMixin, AbstractUpdatingEstimator):
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

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn further rows without another fit; the first call fits.

        The weights of the network and the prior stay as they are, and classes that did not occur
        in the fit cannot be learned. Warns once, and `needs_retraining_` becomes true, when new
        rows are too unlike those of the fit.

        Args:
            X: The rows.
            y: Their labels.
            classes: All labels, which the first rows have to contain; for scikit-learn.
            sample_weight: One weight per row.
        """
        if hasattr(self, "fitted_"):
            return self._learn_further(X, y, sample_weight)
        missing = np.setdiff1d([] if classes is None else classes, y)
        if len(missing):
            raise ValueError(
                f"the first rows of partial_fit must have labels of every class; got none of "
                f"{missing.tolist()[0]!r}. Fit first with rows of all classes."
            )
        return self.fit(X, y, sample_weight)

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

    def _further_targets(self, y: ArrayLike) -> np.ndarray:
        return self.class_numbers(column_or_1d(y))

    def predict_set(self, X: ArrayLike, level: float = 0.95) -> np.ndarray:
        """Which classes are in a set that contains the label with probability `level`.

        (row, class), in the order of `classes_`: as many of the most probable classes as it takes,
        by the model itself, or by the coverage that unseen rows promise: see `conformal`.
        """
        check_level(level)
        return self.fitted_.label_sets(self._known_rows(X), level)

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
