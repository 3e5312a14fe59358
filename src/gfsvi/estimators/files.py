"""Fitted estimators from files."""

import dataclasses
from os import PathLike, fspath
from typing import Any

import numpy as np

from gfsvi.auto.fitted import read_fitted
from gfsvi.auto.parameters import NOT_SAVED
from gfsvi.estimators.base import AbstractEstimator
from gfsvi.estimators.classifier import BayesianClassifier, GFSVIClassifier
from gfsvi.estimators.regressor import BayesianRegressor, GFSVIRegressor
from gfsvi.storage.model_file import ModelFileError

KINDS: dict[str, tuple[type[AbstractEstimator], type[AbstractEstimator]]] = {
    "regression": (GFSVIRegressor, BayesianRegressor),
    "classification": (GFSVIClassifier, BayesianClassifier),
}
"""The estimators of the library's own method, and those of any method."""


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted estimator; nothing in the file is ever run."""
    fitted, parameters = read_fitted(path)
    own, of_any_method = KINDS[fitted.task]
    kind = of_any_method if "method" in parameters else own
    known = {field.name for field in dataclasses.fields(kind)} - NOT_SAVED
    if not set(parameters) <= known:
        raise ModelFileError(
            f"expected the parameters of a {kind.__name__} in {fspath(path)!r}; got others too. "
            "Write it with estimator.save(path) or `gfsvi fit`."
        )
    estimator = kind(**parameters)._with(fitted)
    estimator.n_features_in_ = len(fitted.feature_names)
    if fitted.preparation is None and fitted.are_named:
        setattr(estimator, "feature_names_in_", np.array(fitted.feature_names, object))  # noqa: B010
    return estimator
