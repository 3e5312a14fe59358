"""Learning that compiles nothing, for questions that are not about what is learned."""

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor

from gfsvi.data import Data
from gfsvi.estimators import GFSVIClassifier
from gfsvi.estimators.base import AbstractEstimator, seed_of
from gfsvi.likelihood import AbstractLikelihood
from gfsvi.predictives import CategoricalPredictive, NormalPredictive


class Posterior:
    """A Gaussian process of scikit-learn; class numbers are learned as rows of ones and zeros."""

    def __init__(self, x: np.ndarray, y: np.ndarray, *, of_classes: bool):
        self.of_classes = of_classes
        y = np.eye(y.max() + 1)[y] if of_classes else y
        self.process = GaussianProcessRegressor(alpha=0.01, optimizer=None).fit(x, y)

    def predict(self, x: np.ndarray) -> Any:
        mean = self.process.predict(x)
        if not self.of_classes:
            return NormalPredictive(mean, np.full_like(mean, 0.01), np.full_like(mean, 0.01))
        logits = 5 * mean - np.log(np.sum(np.exp(5 * mean), axis=1, keepdims=True))
        return CategoricalPredictive(logits[None])


def learn(self: AbstractEstimator, all_rows: Data, likelihood: AbstractLikelihood) -> None:
    """In place of `AbstractEstimator._learn`: what else it sets is not asked for."""
    seed = seed_of(self.random_state)
    data, _, self.validation_rows_ = self._held_out(all_rows, seed)
    self.settings_ = self._settings(data, likelihood.num_outputs(data.y), seed)
    of_classes = isinstance(self, GFSVIClassifier)
    self.posterior_ = Posterior(all_rows.x, np.asarray(all_rows.y), of_classes=of_classes)
