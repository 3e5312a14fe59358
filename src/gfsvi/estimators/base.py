"""What regressors and classifiers have in common."""

import contextlib
import dataclasses
import warnings
from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gfsvi.auto import quality
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.importance import Importance
from gfsvi.auto.learner import Learner
from gfsvi.auto.parameters import MethodParameters, Parameters, Watch
from gfsvi.auto.recipe import DEFAULT, recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.diagnostics import Diagnostic
from gfsvi.estimators.reporting import Arrays, RowsOfFit, write_page_of
from gfsvi.estimators.validation import check_numbers, with_remedy
from gfsvi.kernels.base import AbstractKernel
from gfsvi.model import Model
from gfsvi.numerics.progress import Display
from gfsvi.storage.fields import described
from gfsvi.tables import Preparation
from gfsvi.tables.frames import is_table
from gfsvi.training.history import History
from gfsvi.training.settings import Progress

if TYPE_CHECKING:
    import pandas


class AbstractEstimator(Parameters, BaseEstimator):
    """A Bayesian network under a Gaussian-process prior, compatible with scikit-learn."""

    task: ClassVar[Literal["regression", "classification"]]
    fitted_: Fitted
    _rows_of_fit: RowsOfFit | None = None

    @property
    def prior_(self) -> Model:
        """The model before the data, on the standardised scale."""
        return self.fitted_.prior

    @property
    def posterior_(self) -> Model:
        """The model after the data, on the standardised scale."""
        return self.fitted_.posterior

    @property
    def kernel_(self) -> AbstractKernel | None:
        """The prior's kernel, with distances in the units of the columns; see `Fitted.kernel`."""
        return self.fitted_.kernel

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
        frame: "pandas.DataFrame | Any",
        target: str | list[str],
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit a table that may contain text, dates and missing values.

        Args:
            frame: A table of pandas, polars, Arrow or another library that speaks Arrow's
                protocol.
            target: The column to predict, or several.
            sample_weight: One weight per row; weight two counts like the same row twice.
        """
        preparation = Preparation.learn(frame, target, self.task)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        vars(self).pop("feature_names_in_", None)  # of an earlier fit to a frame of numbers
        table = preparation.prepare(frame)
        with self._shown() as learner:
            fitted = learner.learn_table(table, preparation, weights)
        self.n_features_in_ = len(fitted.feature_names)
        self._rows_of_fit = RowsOfFit(table, weights)
        return self._warned(fitted)

    def novelty(self, X: ArrayLike) -> np.ndarray:
        """How unlike the training inputs each row is, from 0 (known) to 1 (new)."""
        rows = self._known_rows(X)
        return self.fitted_.novelty(rows)

    def importance(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> Importance:
        """How much of the variance of predictions each column explains, over rows such as `X`.

        For each column the share that it explains on its own and the share that is lost if it is
        shuffled, both with standard errors; for independent columns these are first-order and
        total Sobol indices.
        """
        rows, seed = self._known_rows(X), seed_of(random_state)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return self.fitted_.importance(rows, seed=seed, weights=weights)

    def report(
        self, path: str | PathLike[str], table: "pandas.DataFrame | Any | None" = None
    ) -> None:
        """Write a page that explains the fit: what was learned, how good it is, and its limits.

        Args:
            path: The HTML file to write.
            table: The training table with its target; not needed right after `fit` or
                `fit_table`, whose rows are kept in memory but not in a saved file.
        """
        check_is_fitted(self)
        write_page_of(self.fitted_, self._rows_of_fit, path, table)

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

    @contextlib.contextmanager
    def _shown(self) -> Iterator[Learner]:
        """A learner whose progress is shown if this estimator is verbose."""
        if not self.verbose:
            yield self._learner(self.watch)
            return
        with Display() as display:

            def watch(stage: str, progress: Progress) -> bool:
                display.watch(stage, progress)
                return self.watch is not None and bool(self.watch(stage, progress))

            yield self._learner(watch)

    def _learner(self, watch: Watch | None = None) -> Learner:
        names = {field.name for field in dataclasses.fields(Parameters)}
        given = {name: getattr(self, name) for name in names}
        given |= {"random_state": seed_of(self.random_state), "watch": watch}
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
        with self._shown() as learner:
            fitted = learner.learn(X, y, names, weights)
        self._rows_of_fit = RowsOfFit(Arrays(X, y), weights)
        return self._warned(fitted)

    def _known_rows(self, X: ArrayLike) -> ArrayLike:
        """Rows to predict at: a table like the one fitted to, numbers or images."""
        check_is_fitted(self)
        if self.fitted_.preparation is not None and is_table(X):
            return X
        return _with_channels(validate_data(self, X, reset=False, **self._expected(X)))

    def _rows_and_targets(
        self, X: ArrayLike, y: ArrayLike, **options: bool | int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Validated rows and targets."""
        check_numbers(self, X)
        try:
            X, y = validate_data(self, X, y, **self._expected(X), **options)
        except (TypeError, ValueError) as error:
            raise with_remedy(self, error) from error
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
