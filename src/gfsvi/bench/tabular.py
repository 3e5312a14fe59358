"""Scores of predictions of a table, the same for methods of the library and for its peers."""

from typing import NamedTuple

import numpy as np

from gfsvi import metrics
from gfsvi.bench.data.raw_tables import TableFold
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive

LEAST_PROBABILITY = 1e-15
"""Of a label, so that one row that was thought impossible does not make a score infinite."""


class Predicted(NamedTuple):
    """Distributions of numbers, or probabilities (row, class), with the seconds they took."""

    predictive: AbstractRealPredictive | np.ndarray
    seconds: dict[str, float]


def scores(predicted: Predicted, fold: TableFold) -> dict[str, float]:
    """Scores on the test rows of a fold, and seconds."""
    if isinstance(predicted.predictive, np.ndarray):
        return scores_of_labels(predicted.predictive, fold.y_test) | predicted.seconds
    spread = float(np.std(fold.y_train))
    return scores_of_numbers(predicted.predictive, fold.y_test, spread) | predicted.seconds


def scores_of_numbers(
    predictive: AbstractRealPredictive, y: np.ndarray, spread: float
) -> dict[str, float]:
    """Scores in units of the standard deviation of the training targets.

    Probabilities of counts are densities per unit, so that both change by the same logarithm.
    """
    in_deviations = float(np.log(spread))
    return {
        "log_predictive_density": metrics.log_predictive_density(predictive, y) + in_deviations,
        "least_log_density": metrics.least_log_density(predictive, y) + in_deviations,
        "crps": metrics.crps(predictive, y) / spread,
        "interval_score": metrics.interval_score(predictive, y) / spread,
        "coverage": metrics.coverage(predictive, y),
        "coverage_99": metrics.coverage(predictive, y, 0.99),
        "mse": metrics.mse(predictive, y) / spread**2,
    }


def scores_of_labels(probabilities: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Scores of class probabilities, none of which counts as less than 1e-15."""
    log_probabilities = np.log(np.maximum(probabilities, LEAST_PROBABILITY))
    predictive = CategoricalPredictive(log_probabilities[None])
    density = metrics.log_predictive_density(predictive, y)
    return {
        "log_predictive_density": density,
        "least_log_density": metrics.least_log_density(predictive, y),
        "log_loss": -density,
        "accuracy": metrics.accuracy(predictive, y),
        "ece": metrics.expected_calibration_error(predictive, y),
    }
