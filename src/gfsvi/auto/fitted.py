"""The result of a fit: prior, posterior, and everything needed to predict on the user's scale."""

import dataclasses
import math
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from numpy.typing import ArrayLike

from gfsvi.auto import format_1, scores
from gfsvi.auto.conformal import LEVEL, Kind, interval_of, set_of
from gfsvi.auto.description import described
from gfsvi.auto.drawing import correlations, drawn_observations
from gfsvi.auto.first_predictions import FirstPredictions
from gfsvi.auto.importance import Importance, importance
from gfsvi.auto.looked_at import affordable_predictions, quickest
from gfsvi.auto.novelty import Novelty, VarianceShare
from gfsvi.auto.parameters import Parameters, not_saved, saved_parameters
from gfsvi.auto.scores_in_pieces import evaluated_in_pieces
from gfsvi.auto.settings import Settings
from gfsvi.auto.targets import Labels, Numbers
from gfsvi.auto.trial import (
    check_novelty,
    check_prediction,
    check_preparation,
    check_scale,
    check_trees,
)
from gfsvi.auto.units import features_of, in_user_units
from gfsvi.auto.unseen import UnseenRows
from gfsvi.auto.unseen_rows import UnseenValues
from gfsvi.auto.updates import Updates, with_rows, without_rows
from gfsvi.data import Data
from gfsvi.diagnostics import Diagnostic
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.kernels.base import AbstractKernel
from gfsvi.model import Model, predictive_of
from gfsvi.numerics.batching import padded
from gfsvi.numerics.precision import double, to_numpy
from gfsvi.numerics.printing import html_of
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.storage import model_file
from gfsvi.storage.container import MALFORMED, damaged
from gfsvi.storage.fields import check_fields
from gfsvi.storage.model_file import ModelFileError
from gfsvi.tables import Preparation
from gfsvi.tables.frames import is_table
from gfsvi.tables.sources import PIECE
from gfsvi.training.history import History


@dataclasses.dataclass(frozen=True, repr=False)
class Fitted:
    """The result of a fit, which predicts on the user's scale.

    Args:
        prior: The model before the data, on the standardised scale.
        posterior: The model after the data, on the standardised scale.
        target: Converts between the user's targets and the model's.
        input_centre: What is subtracted from every row.
        input_spread: What every row is then divided by.
        feature_names: One name per feature.
        are_named: Whether the user gave these names.
        preparation: How a table becomes rows of numbers, if the fit was to a table.
        settings: The sizes of the fit.
        history: The course of training.
        novelty_measure: Measures how unlike the training inputs a row is.
        diagnostics: What to know before trusting this fit.
        validation_rows: Positions of the rows that were held out to judge the fit.
        unseen: How surprising rows were that the model had not seen.
        updates: What has been learned since the fit.
        conformal: By which rows intervals and sets promise their coverage: "none", "split" for
            rows that were set aside, "left_out" for training rows that are left out.
        level: The coverage of intervals and sets unless another is asked for.
        first_predictions: What was predicted for held-out rows that have been learned since.
        unseen_values: The function at training rows without what they taught.
    """

    prior: Model
    posterior: Model
    target: Numbers | Labels
    input_centre: np.ndarray | float
    input_spread: np.ndarray | float
    feature_names: tuple[str, ...]
    are_named: bool
    preparation: Preparation | None
    settings: Settings
    history: History
    novelty_measure: Novelty | VarianceShare
    diagnostics: tuple[Diagnostic, ...]
    validation_rows: np.ndarray
    unseen: UnseenRows | None = None
    updates: Updates | None = None
    conformal: Kind = "none"
    level: float = LEVEL
    first_predictions: FirstPredictions | None = None
    unseen_values: UnseenValues | None = None

    @property
    def task(self) -> str:
        """Regression or classification."""
        return self.target.task

    @property
    def kernel(self) -> AbstractKernel | None:
        """The prior's kernel with distances in the units of the columns, where each has its own.

        Those that were learned begin with "~". None for a prior over weights.
        """
        kernel = getattr(getattr(self.prior, "function", None), "kernel", None)
        if not isinstance(kernel, AbstractKernel):
            return None
        features = features_of(self.feature_names, self.input_spread, self.preparation)
        return in_user_units(kernel, features)

    def __repr__(self) -> str:
        lines = [f"  {name}: {text}" for name, text in described(self).items()]
        return "\n".join([f"Fitted {self.task}", *lines])

    def _repr_html_(self) -> str:
        return html_of(repr(self))

    def rows(self, x: ArrayLike) -> np.ndarray:
        """Convert a table to rows of numbers, if the fit was to a table."""
        if self.preparation is not None and is_table(x):
            return self.preparation.inputs(x)
        return np.asarray(x, np.float64)

    def standardized(self, x: ArrayLike) -> np.ndarray:
        """Convert a table or rows of numbers to the model's scale."""
        return (self.rows(x) - self.input_centre) / self.input_spread

    def standardized_data(
        self, x: ArrayLike, y: np.ndarray, weights: np.ndarray | None = None
    ) -> Data:
        """Rows with their targets on the model's scale; labels are given as class numbers."""
        y = self.target.standardized(y) if isinstance(self.target, Numbers) else y
        return Data(self.standardized(x), y, weights)

    def condition_on(
        self, x: ArrayLike, y: np.ndarray, weights: np.ndarray | None = None
    ) -> "Fitted":
        """The fit after more rows, exactly as if the linearised network had seen them all at once.

        Weights of the network, prior, measurement points and noise stay as they are; among the
        `diagnostics` is "outgrown" once the latest rows are too unlike those of the fit. Labels
        are given as class numbers.
        """
        return with_rows(self, self.rows(x), y, weights)

    def forget(self, x: ArrayLike, y: np.ndarray, weights: np.ndarray | None = None) -> "Fitted":
        """The fit without rows that it has learned from: the inverse of `condition_on`."""
        return without_rows(self, self.rows(x), y, weights)

    def predict(self, x: ArrayLike) -> AbstractPredictive:
        """The distribution of an observation at each row."""
        return self.target.on_user_scale(self.posterior.predict(self.standardized(x)))

    @double
    def left_out(
        self, x: ArrayLike, y: np.ndarray, weights: np.ndarray | None = None
    ) -> AbstractPredictive | None:
        """The distribution of an observation at each row of the fit, given all other rows.

        The prior, the measurement points and the weights of the network stay as they are. Where
        the fit has kept what it knew of rows before they were learned, that is used instead.

        Args:
            x: Rows that the posterior was fitted to, some or all of them.
            y: Their targets; labels are given as class numbers.
            weights: The weights that these rows had in the fit.

        Returns:
            The predictive, or None for a posterior that is not in closed form, and for rows that
            trees have seen and that were not among those of the fit.
        """
        data = self.standardized_data(x, y, weights)
        known = self.unseen_values
        values = None if known is None else known.at(np.asarray(data.x))
        if values is None and isinstance(self.posterior.function, ConjugateNetwork):
            values = leave_one_out(self.posterior, data)
        if values is None:
            return None
        likelihood = self.posterior.likelihood.at(np.asarray(data.x))
        predictive = predictive_of(likelihood, values, key=jax.random.key(0))
        return self.target.on_user_scale(to_numpy(predictive))

    def interval(self, x: ArrayLike, level: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends that contain an observation with this probability."""
        predictive = cast(AbstractRealPredictive, self.predict(x))
        return interval_of(self, predictive, self.level if level is None else level)

    def label_sets(self, x: ArrayLike, level: float | None = None) -> np.ndarray:
        """Which classes are in a set that contains the label with this probability."""
        predictive = cast(CategoricalPredictive, self.predict(x))
        return set_of(self, predictive, self.level if level is None else level)

    def novelty(self, x: ArrayLike) -> np.ndarray:
        """How unlike the training inputs each row is, from 0 (known) to 1 (new)."""
        return self.novelty_measure.at(self.standardized(x))

    def importance(
        self, x: ArrayLike, *, seed: int = 0, weights: np.ndarray | None = None
    ) -> Importance:
        """How much of the variance of predictions each column explains, over rows such as these.

        Args:
            x: A table or rows of numbers, such as the training rows.
            seed: Determines how columns are shuffled.
            weights: How often each row counts.
        """
        rows = self.rows(x)
        if rows.ndim != 2:
            raise ValueError(
                f"importance expects a table or rows of numbers; got an array of shape "
                f"{rows.shape}. Pixels of images are not measured one by one."
            )
        if self.preparation is None:
            groups = {name: (i,) for i, name in enumerate(self.feature_names)}
        else:
            groups = self.preparation.features_of_columns
        groups = quickest(groups, self.prior)
        most = affordable_predictions(self.posterior)
        options = {"seed": seed, "weights": weights, "max_predictions": most}
        return importance(self._responses, rows, groups, **options)

    def _responses(self, x: np.ndarray) -> np.ndarray:
        """Means by target (row[, target]), or the probabilities of classes (row, 1, class)."""
        predictive = self.predict(x)
        if isinstance(predictive, CategoricalPredictive):
            return np.asarray(predictive.probabilities)[:, None, :]
        return np.asarray(cast(AbstractRealPredictive, predictive).mean)

    def evaluate(
        self, x: ArrayLike, y: np.ndarray, decision: scores.Decision | None = None
    ) -> dict[str, float]:
        """Scores on rows whose targets are known; labels are given as class numbers."""
        if len(y) > PIECE:
            return evaluated_in_pieces(self, self.rows(x), y, decision)
        return scores.evaluated(self.predict(x), self.target, y, decision)

    @double
    def draws(self, x: ArrayLike, num_samples: int, *, key: PRNGKeyArray) -> np.ndarray:
        """Draw observations, one function per sample: (sample, row[, target])."""
        standardized = self.standardized(x)
        drawn = np.asarray(
            drawn_observations(self.posterior, padded(standardized), num_samples, key)
        )
        drawn = drawn[:, : len(standardized)]
        if isinstance(self.target, Labels):
            return drawn
        return drawn * self.target.spread + self.target.centre

    @double
    def covariance(self, x: ArrayLike) -> np.ndarray:
        """Covariances of observations at the rows: (row, row[, target])."""
        predictive = cast(AbstractRealPredictive, self.predict(x))
        rows = self.standardized(x)
        of_means = correlations(self.posterior, rows)
        known, scatter = (
            np.atleast_2d(np.asarray(std).T)
            for std in (predictive.epistemic_std, predictive.aleatoric_std)
        )
        covariances = of_means * known[:, :, None] * known[:, None, :]
        covariances += scatter[:, :, None] ** 2 * np.eye(len(rows))
        single = np.ndim(predictive.mean) == 1
        return covariances[0] if single else np.moveaxis(covariances, 0, -1)

    def save(self, path: str | PathLike[str], parameters: Parameters | None = None) -> None:
        """Write this to one file, with the parameters of the fit.

        The checkpoint of the fit, if there is one, is removed.
        """
        kept = {} if parameters is None else saved_parameters(parameters)
        model_file.write(path, {"fitted": self, "parameters": kept})
        if parameters is not None and parameters.checkpoint is not None:
            Path(parameters.checkpoint).unlink(missing_ok=True)

    def check(self) -> None:
        """Raise if the parts do not fit together, as those of a forged file may not."""
        shape = self.settings.image_shape or (len(self.feature_names),)
        check_scale(self.input_centre, self.input_spread, shape)
        if self.preparation is not None:
            check_preparation(self.preparation, self.feature_names, self.target)
        num_targets = None if self.preparation is None else len(self.preparation.target)
        check_prediction(self.posterior, self.target, shape, num_targets)
        check_novelty(self.novelty_measure, shape)
        check_trees(self.posterior, math.prod(shape))
        if self.first_predictions is not None:
            self.first_predictions.check(self.target)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Fitted":
        """Read what `save` wrote; nothing in the file is ever run."""
        return read_fitted(path)[0]


def read_fitted(path: str | PathLike[str]) -> tuple[Fitted, dict[str, object]]:
    """Read a fit and its parameters."""
    content = model_file.read(path)
    if format_1.is_old(content):
        content = {"fitted": _of_format_1(path, content), "parameters": content["params"]}
    fitted, parameters = (content.get(name) for name in ("fitted", "parameters"))
    if not isinstance(fitted, Fitted) or not isinstance(parameters, dict):
        raise ModelFileError(
            f"expected a fitted model in {fspath(path)!r}; got something else. "
            "Write it with estimator.save(path) or `gfsvi fit`."
        )
    if (unknown := not_saved(parameters)) is not None:
        raise ModelFileError(
            f"expected the parameters of a fit in {fspath(path)!r}; got {unknown}. "
            "Write it with estimator.save(path) or `gfsvi fit`."
        )
    try:
        fitted.check()
    except (ValueError, *MALFORMED) as error:
        raise damaged(path, "its prior, posterior and table do not fit together") from error
    return fitted, parameters


def _of_format_1(path: str | PathLike[str], content: dict[str, Any]) -> Fitted:
    """The fit in a file that holds the attributes of an estimator."""
    try:
        fields = format_1.fields_of_fitted(content["fitted"])
        check_fields(Fitted, fields)
        check_fields(type(fields["target"]), vars(fields["target"]))
        return Fitted(**fields)
    except (ValueError, *MALFORMED) as error:
        raise damaged(path, "its attributes are not those of a fit") from error
