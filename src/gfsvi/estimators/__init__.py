"""Estimators that are compatible with scikit-learn."""

from gfsvi.estimators.classifier import BayesianClassifier as BayesianClassifier
from gfsvi.estimators.classifier import GFSVIClassifier as GFSVIClassifier
from gfsvi.estimators.files import load as load
from gfsvi.estimators.regressor import BayesianRegressor as BayesianRegressor
from gfsvi.estimators.regressor import GFSVIRegressor as GFSVIRegressor
