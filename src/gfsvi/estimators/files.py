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

ESTIMATORS: dict[str, type[AbstractEstimator]] = {
    kind.__name__: kind
    for kind in (GFSVIRegressor, GFSVIClassifier, BayesianRegressor, BayesianClassifier)
}


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted estimator; nothing in the file is ever run."""
    fitted, name, parameters = read_fitted(path)
    kind = ESTIMATORS.get(name or "")
    if kind is None or kind.task != fitted.task or not _are_known(kind, parameters):
        raise ModelFileError(
            f"expected a fitted estimator in {fspath(path)!r}; got something else. "
            "Write it with estimator.save(path) or `gfsvi fit`."
        )
    estimator = kind(**parameters)._with(fitted)
    estimator.n_features_in_ = len(fitted.feature_names)
    if fitted.preparation is None and fitted.are_named:
        estimator.feature_names_in_ = np.array(fitted.feature_names, object)
    return estimator


def _are_known(kind: type[AbstractEstimator], parameters: object) -> bool:
    known = {field.name for field in dataclasses.fields(kind)} - NOT_SAVED
    return isinstance(parameters, dict) and set(parameters) <= known
