"""Regressors."""

import dataclasses
from typing import ClassVar, Literal, Self, cast

import jax
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import Tags, check_array

from gfsvi.auto.parameters import MethodParameters
from gfsvi.auto.targets import Numbers
from gfsvi.estimators.base import seed_of
from gfsvi.estimators.updating import AbstractUpdatingEstimator
from gfsvi.estimators.validation import check_level, check_targets_are_numbers
from gfsvi.predictives.base import AbstractRealPredictive


class AbstractRegressor(RegressorMixin, AbstractUpdatingEstimator):
    """A regressor that predicts numbers with their uncertainty."""

    task: ClassVar[Literal["regression", "classification"]] = "regression"

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit rows `X` and targets `y`, (row,) or (row, target).

        A row of weight two counts like the same row twice.
        """
        check_targets_are_numbers(self, y)
        options = {"multi_output": True, "y_numeric": True, "ensure_min_samples": 2}
        X, y = self._rows_and_targets(X, y, **options)
        return self._fit_rows(X, np.asarray(y, np.float64), sample_weight)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn further rows without another fit; the first call fits.

        The weights of the network, the prior and the noise stay as they are. Warns once, and
        `needs_retraining_` becomes true, when new rows are too unlike those of the fit.
        """
        if not hasattr(self, "fitted_"):
            return self.fit(X, y, sample_weight)
        return self._learn_further(X, y, sample_weight)

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The mean of observations and, if requested, their standard deviation or covariance."""
        if return_std and return_cov:
            raise ValueError("predict expects return_std or return_cov; got both. Choose one.")
        predictive = self.predict_distribution(X)
        mean = np.asarray(predictive.mean)
        if return_std:
            return mean, np.asarray(predictive.std)
        return (mean, self.fitted_.covariance(self._known_rows(X))) if return_cov else mean

    def predict_distribution(self, X: ArrayLike) -> AbstractRealPredictive:
        """The distribution of an observation at each row."""
        rows = self._known_rows(X)
        return cast(AbstractRealPredictive, self.fitted_.predict(rows))

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends that contain an observation with probability `level`.

        Of the model itself, or of the coverage that unseen rows promise: see `conformal`.
        """
        check_level(level)
        return self.fitted_.interval(self._known_rows(X), level)

    def sample_y(
        self, X: ArrayLike, n_samples: int = 1, random_state: int | np.random.RandomState | None = 0
    ) -> np.ndarray:
        """Draw observations, one function per sample: (row[, target], sample)."""
        rows, key = self._known_rows(X), jax.random.key(seed_of(random_state))
        return np.moveaxis(self.fitted_.draws(rows, n_samples, key=key), 0, -1)

    def _further_targets(self, y: ArrayLike) -> np.ndarray:
        check_targets_are_numbers(self, y)
        expected = np.shape(cast(Numbers, self.fitted_.target).centre)
        found = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if found.ndim == 2 and found.shape[1] == 1 and not expected:
            found = found[:, 0]
        if found.shape[1:] != expected:
            raise ValueError(
                f"expected targets of shape {('row', *expected)}, as in the fit; got "
                f"{found.shape}. Pass one column per target."
            )
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


@dataclasses.dataclass(eq=False, repr=False)
class GFSVIRegressor(AbstractRegressor):
    """Regression by a Bayesian neural network with a Gaussian-process prior.

    Several targets share one network.
    """

    kernel: str | object = "auto"


@dataclasses.dataclass(eq=False, repr=False)
class BayesianRegressor(AbstractRegressor, MethodParameters):
    """Regression by any method, chosen by name or given: "laplace", "mfvi", `Laplace(...)`."""
