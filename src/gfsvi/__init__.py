"""Bayesian neural networks with Gaussian-process priors."""

from typing import TYPE_CHECKING

from gfsvi.data import Data as Data
from gfsvi.model import Model as Model
from gfsvi.training.history import Fit as Fit
from gfsvi.training.settings import Training as Training
from gfsvi.version import __version__ as __version__

if TYPE_CHECKING:
    from gfsvi.estimators import BayesianClassifier as BayesianClassifier
    from gfsvi.estimators import BayesianRegressor as BayesianRegressor
    from gfsvi.estimators import GFSVIClassifier as GFSVIClassifier
    from gfsvi.estimators import GFSVIRegressor as GFSVIRegressor
    from gfsvi.estimators import load as load

_ESTIMATORS = (
    "BayesianClassifier",
    "BayesianRegressor",
    "GFSVIClassifier",
    "GFSVIRegressor",
    "load",
)


def __getattr__(name: str) -> object:
    # scikit-learn takes a second to import, so it is imported only when needed.
    if name in _ESTIMATORS:
        import gfsvi.estimators

        return getattr(gfsvi.estimators, name)
    raise AttributeError(f"module 'gfsvi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_ESTIMATORS]
