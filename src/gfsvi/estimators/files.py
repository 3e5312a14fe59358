"""Fitted estimators as files."""

from os import PathLike, fspath
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gfsvi.auto import files
from gfsvi.estimators.base import AbstractEstimator
from gfsvi.estimators.classifier import BayesianClassifier, GFSVIClassifier
from gfsvi.estimators.regressor import BayesianRegressor, GFSVIRegressor
from gfsvi.storage import model_file as persistence
from gfsvi.storage.model_file import ModelFileError

ESTIMATORS = {
    kind.__name__: kind
    for kind in (GFSVIRegressor, GFSVIClassifier, BayesianRegressor, BayesianClassifier)
}


def save(estimator: AbstractEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted estimator."""
    check_is_fitted(estimator)
    learned = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    files.save(path, type(estimator).__name__, estimator.get_params(deep=False), learned)


def load(path: str | PathLike[str]) -> Any:
    """Read a fitted estimator; nothing in the file is ever run."""
    content = persistence.read(path)
    kind = ESTIMATORS.get(content.get("estimator", ""))
    if kind is None or set(content) != {"estimator", "params", "fitted"}:
        raise ModelFileError(
            f"expected a fitted estimator in {fspath(path)!r}; got something else. "
            "Write it with estimator.save(path) or `gfsvi fit`."
        )
    estimator = kind(**content["params"])
    vars(estimator).update(content["fitted"] | _text_arrays(content["fitted"]))
    return estimator


def _text_arrays(fitted: dict[str, Any]) -> dict[str, np.ndarray]:
    """What was an array of text: a file holds it as a list."""
    types = {"classes_": None, "feature_names_in_": object}
    return {name: np.array(fitted[name], types[name]) for name in types if name in fitted}
