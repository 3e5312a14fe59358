"""Bayesian neural networks with Gaussian-process priors."""

import importlib
from typing import TYPE_CHECKING

from gfsvi.version import __version__ as __version__

if TYPE_CHECKING:
    from gfsvi.acquisition import suggest as suggest
    from gfsvi.auto.exporting import export as export
    from gfsvi.auto.updates import RetrainWarning as RetrainWarning
    from gfsvi.data import Data as Data
    from gfsvi.estimators import BayesianClassifier as BayesianClassifier
    from gfsvi.estimators import BayesianRegressor as BayesianRegressor
    from gfsvi.estimators import GFSVIClassifier as GFSVIClassifier
    from gfsvi.estimators import GFSVIRegressor as GFSVIRegressor
    from gfsvi.estimators import load as load
    from gfsvi.inference.updates import condition_on as condition_on
    from gfsvi.inference.updates import forget as forget
    from gfsvi.interchange.arviz import to_arviz as to_arviz
    from gfsvi.interchange.frames import predict_table as predict_table
    from gfsvi.model import Model as Model
    from gfsvi.portable.onnx_graph import export_onnx as export_onnx
    from gfsvi.post_hoc import posterior_of as posterior_of
    from gfsvi.training import Fit as Fit
    from gfsvi.training import Training as Training

# Imported at their first use: JAX and scikit-learn take seconds, which `gfsvi --help` need not.
_HOMES = {
    "BayesianClassifier": "gfsvi.estimators",
    "BayesianRegressor": "gfsvi.estimators",
    "Data": "gfsvi.data",
    "Fit": "gfsvi.training",
    "GFSVIClassifier": "gfsvi.estimators",
    "GFSVIRegressor": "gfsvi.estimators",
    "Model": "gfsvi.model",
    "RetrainWarning": "gfsvi.auto.updates",
    "Training": "gfsvi.training",
    "condition_on": "gfsvi.inference.updates",
    "export": "gfsvi.auto.exporting",
    "export_onnx": "gfsvi.portable.onnx_graph",
    "forget": "gfsvi.inference.updates",
    "load": "gfsvi.estimators",
    "posterior_of": "gfsvi.post_hoc",
    "predict_table": "gfsvi.interchange.frames",
    "suggest": "gfsvi.acquisition",
    "to_arviz": "gfsvi.interchange.arviz",
}

_ROOMS = (
    *(
        "acquisition",
        "covariances",
        "data",
        "diagnostics",
        "estimators",
        "functions",
        "interchange",
        "kernels",
        "likelihoods",
    ),
    *("methods", "metrics", "model", "networks", "plots", "points", "predictives", "registry"),
    *("training", "values"),
)


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"gfsvi.{name}")
    raise AttributeError(f"module 'gfsvi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
