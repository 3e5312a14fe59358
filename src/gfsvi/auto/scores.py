"""Score predictions against observed targets, under the names that `gfsvi evaluate` prints."""

from typing import cast

import numpy as np

from gfsvi import metrics
from gfsvi.auto.targets import Labels, Numbers
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive


def evaluated(
    predictive: AbstractPredictive, target: Numbers | Labels, y: np.ndarray
) -> dict[str, float]:
    """Scores on the scale of the target and, for numbers, on the standardised scale too."""
    counted = {"num_rows": len(y)}
    if isinstance(target, Labels):
        return counted | _of_labels(cast(CategoricalPredictive, predictive), y)
    real = cast(AbstractRealPredictive, predictive)
    spread, centre = target.spread, target.centre
    standardized = _of_numbers(real.rescaled(1 / spread, -centre / spread), target.standardized(y))
    return (
        counted
        | _of_numbers(real, y)
        | {f"{name}_standardized": value for name, value in standardized.items()}
    )


def _of_numbers(predictive: AbstractRealPredictive, y: np.ndarray) -> dict[str, float]:
    return {
        "log_predictive_density": float(metrics.log_predictive_density(predictive, y)),
        "expected_log_likelihood": float(metrics.expected_log_likelihood(predictive, y)),
        "mse": float(metrics.mse(predictive, y)),
        "coverage": float(metrics.coverage(predictive, y)),
        "crps": float(metrics.crps(predictive, y)),
    }


def _of_labels(predictive: CategoricalPredictive, y: np.ndarray) -> dict[str, float]:
    return {
        "log_predictive_density": float(metrics.log_predictive_density(predictive, y)),
        "expected_log_likelihood": float(metrics.expected_log_likelihood(predictive, y)),
        "accuracy": float(metrics.accuracy(predictive, y)),
        "ece": float(metrics.expected_calibration_error(predictive, y)),
    }
