"""`gfsvi evaluate`."""

import argparse
import json
import sys
from typing import Any

import numpy as np

from gfsvi import metrics
from gfsvi.numerics.process import prepare_jax
from gfsvi.tables.reading import TableError, read_table


def run(arguments: argparse.Namespace) -> int:
    """Print scores on rows whose target is known."""
    frame = read_table(arguments.table)
    prepare_jax(len(frame))
    from gfsvi.estimators import load

    estimator = load(arguments.model)
    preparation = estimator.preparation_
    if preparation is None:
        raise TableError(
            "expected a model that knows its target column; got one fitted to arrays. "
            "Fit it with `gfsvi fit` or estimator.fit_table."
        )
    rows = preparation.usable_rows(frame)
    if not np.any(rows):
        raise TableError(
            f"expected rows whose target {', '.join(map(repr, preparation.target))} is known; got "
            "none. Use a table with the target."
        )
    frame = frame[rows]
    for surprise in preparation.surprises(frame):
        print(surprise, file=sys.stderr)
    scores = evaluated(estimator, frame, preparation.observations(frame))
    if arguments.json:
        print(json.dumps(scores))
    else:
        width = max(map(len, scores))
        for name, value in scores.items():
            print(f"{name.replace('_', ' '):<{width}}  {value:.4g}")
    return 0


def evaluated(estimator: Any, inputs: Any, y: np.ndarray) -> dict[str, float]:
    """Scores on the target's own scale and on the standardised one."""
    predictive = estimator.predict_distribution(inputs)
    if hasattr(estimator, "classes_"):
        return {"num_rows": len(y)} | _scores_of_labels(predictive, y)
    spread, centre = estimator.target_spread_, estimator.target_centre_
    standardized = _scores_of_numbers(
        predictive.rescaled(1 / spread, -centre / spread), (y - centre) / spread
    )
    return (
        {"num_rows": len(y)}
        | _scores_of_numbers(predictive, y)
        | {f"{name}_standardized": value for name, value in standardized.items()}
    )


def _scores_of_numbers(predictive: Any, y: np.ndarray) -> dict[str, float]:
    return _plain(
        log_predictive_density=metrics.log_predictive_density(predictive, y),
        expected_log_likelihood=metrics.expected_log_likelihood(predictive, y),
        mse=metrics.mse(predictive, y),
        coverage=metrics.coverage(predictive, y),
        crps=metrics.crps(predictive, y),
    )


def _scores_of_labels(predictive: Any, y: np.ndarray) -> dict[str, float]:
    return _plain(
        log_predictive_density=metrics.log_predictive_density(predictive, y),
        expected_log_likelihood=metrics.expected_log_likelihood(predictive, y),
        accuracy=metrics.accuracy(predictive, y),
        ece=metrics.expected_calibration_error(predictive, y),
    )


def _plain(**scores: Any) -> dict[str, float]:
    return {name: float(value) for name, value in scores.items()}
