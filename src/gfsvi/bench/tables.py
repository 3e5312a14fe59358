"""Shared by the tasks on tables: the folds, the key of a run, and scores of predictions."""

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi import metrics
from gfsvi.bench.data.folds import fold_of
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import Arrays
from gfsvi.data import Data
from gfsvi.model import Model


def split_of(run: Run, arrays: dict[str, Arrays]) -> tuple[Data, Data, Data]:
    """Training, validation and test rows of a run's fold."""
    table = arrays[run.dataset]
    return fold_of(table["X"], table["y"], run.fold)


def key_of(run: Run) -> PRNGKeyArray:
    """The random key of a run, of a kind that compiles three times faster than the default."""
    return jax.random.key(run.fold + 1000 * run.seed, impl="rbg")


def scores(posterior: Model, test: Data) -> dict[str, float]:
    """Scores of the predictions at held-out rows, in units of the standardised target."""
    predictive = posterior.predict(test.x)
    return {
        "expected_log_likelihood": metrics.expected_log_likelihood(predictive, test.y),
        "log_predictive_density": metrics.log_predictive_density(predictive, test.y),
        "mse": metrics.mse(predictive, test.y),
        "crps": metrics.crps(predictive, test.y),
        "coverage": metrics.coverage(predictive, test.y),
        "noise": float(np.mean(np.asarray(posterior.likelihood.noise))),
    }


def function_moments(
    model: Model, x: np.ndarray, key: PRNGKeyArray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the function, without noise, at each point."""
    values = model.function.marginals(x, key=key)
    return np.ravel(values.mean), np.sqrt(np.maximum(np.ravel(values.variance), 0))
