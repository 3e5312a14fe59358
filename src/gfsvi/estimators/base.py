"""What regressors and classifiers have in common."""

import dataclasses
import warnings
from os import PathLike
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gfsvi.auto import quality
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.learner import Learner
from gfsvi.auto.parameters import MethodParameters, Parameters
from gfsvi.auto.recipe import DEFAULT, recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.diagnostics import Diagnostic
from gfsvi.model import Model
from gfsvi.storage.fields import described
from gfsvi.tables import Preparation
from gfsvi.training.history import History

if TYPE_CHECKING:
    import pandas


class AbstractEstimator(Parameters, BaseEstimator):
    """A Bayesian network under a Gaussian-process prior, compatible with scikit-learn."""

    task: ClassVar[Literal["regression", "classification"]]
    fitted_: Fitted

    @property
    def prior_(self) -> Model:
        """The model before the data, on the standardised scale."""
        return self.fitted_.prior

    @property
    def posterior_(self) -> Model:
        """The model after the data, on the standardised scale."""
        return self.fitted_.posterior

    @property
    def preparation_(self) -> Preparation | None:
        """How a table becomes rows of numbers; None after `fit(X, y)`."""
        return self.fitted_.preparation

    @property
    def settings_(self) -> Settings:
        """The sizes of the fit."""
        return self.fitted_.settings

    @property
    def history_(self) -> History:
        """The course of training."""
        return self.fitted_.history

    @property
    def diagnostics_(self) -> tuple[Diagnostic, ...]:
        """What to know before trusting this fit."""
        return self.fitted_.diagnostics

    def fit_table(
        self,
        frame: "pandas.DataFrame",
        target: str | list[str],
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit a table that may contain text, dates and missing values."""
        preparation = Preparation.learn(frame, target, self.task)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        vars(self).pop("feature_names_in_", None)  # of an earlier fit to a frame of numbers
        table = preparation.prepare(frame)
        fitted = self._learner().learn_table(table, preparation, weights)
        self.n_features_in_ = len(fitted.feature_names)
        return self._warned(fitted)

    def novelty(self, X: ArrayLike) -> np.ndarray:
        """How unlike the training inputs each row is, from 0 (known) to 1 (new)."""
        rows = self._known_rows(X)
        return self.fitted_.novelty(rows)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator to one file, which `gfsvi.load` reads."""
        check_is_fitted(self)
        self.fitted_.save(path, self)

    def _with(self, fitted: Fitted) -> Self:
        self.fitted_ = fitted
        return self

    def _warned(self, fitted: Fitted) -> Self:
        """This estimator after a fit; a poor one does not pass unremarked."""
        for diagnostic in fitted.diagnostics:
            if diagnostic.name in quality.NAMES:
                message = str(diagnostic).removeprefix("warning: ")
                warnings.warn(message, quality.PoorFitWarning, stacklevel=4)
        return self._with(fitted)

    def _learner(self) -> Learner:
        names = {field.name for field in dataclasses.fields(Parameters)}
        given = {name: getattr(self, name) for name in names}
        given["random_state"] = seed_of(self.random_state)
        is_chosen = isinstance(self, MethodParameters)
        return Learner(
            self.task,
            Parameters(**given),
            recipe_for(self.method) if is_chosen else DEFAULT,
            self.prior_scale if is_chosen else 1.0,
        )

    def _fit_rows(self, X: np.ndarray, y: np.ndarray, sample_weight: ArrayLike | None) -> Self:
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else [str(name) for name in names]
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return self._warned(self._learner().learn(X, y, names, weights))

    def _known_rows(self, X: ArrayLike) -> ArrayLike:
        """Rows to predict at: a table like the one fitted to, numbers or images."""
        check_is_fitted(self)
        if self.fitted_.preparation is not None and hasattr(X, "columns"):
            return X
        return _with_channels(validate_data(self, X, reset=False, **self._expected(X)))

    def _rows_and_targets(
        self, X: ArrayLike, y: ArrayLike, **options: bool | int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Validated rows and targets."""
        X, y = validate_data(self, X, y, **self._expected(X), **options)
        return _with_channels(X), np.asarray(y)

    def _expected(self, X: ArrayLike) -> dict[str, object]:
        """How to validate arrays; images are accepted only with a network for them."""
        shape = getattr(X, "shape", ())
        if self.network is None and len(shape) > 2:
            raise ValueError(
                f"{type(self).__name__} expects rows of numbers; got an array of shape "
                f'{tuple(shape)}. For images (row, height, width[, channel]) set network="cnn".'
            )
        return {"dtype": np.float64, "allow_nd": self.network is not None}


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """An integer seed from anything that scikit-learn accepts as a random state."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)  # its range is checked with all other parameters
    if not (random_state is None or isinstance(random_state, np.random.RandomState)):
        raise ValueError(
            f"random_state expects a seed or a NumPy random state; got {described(random_state)}. "
            "Pass a whole number such as 0."
        )
    return int(check_random_state(random_state).randint(2**31 - 1))


def _with_channels(X: np.ndarray) -> np.ndarray:
    return X[..., None] if X.ndim == 3 else X
