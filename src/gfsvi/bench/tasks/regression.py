"""How well a method predicts the rows of a table, and whether it knows rows of another table."""

import time
from typing import Any

import jax
import numpy as np

from gfsvi import metrics
from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.data.folds import fold_of, standardized
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.data import Data
from gfsvi.model import Model

OUTSIDE = "song"


class Regression(AbstractTask):
    """Scores on the held-out rows of a fold, and of telling them from rows of other data."""

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, float]:
        table = arrays[run.dataset]
        data, validation, test = fold_of(table["X"], table["y"], run.fold)
        key = jax.random.key(run.fold + 1000 * run.seed, impl="rbg")  # compiles three times faster
        began = time.perf_counter()
        method = build_method(run.settings)
        prior = prior_for(method, data, run.settings, key)
        chosen = time.perf_counter()
        fit = method(prior, data, key=key, validation=validation)
        fitted = time.perf_counter()
        outside = outside_rows(arrays[OUTSIDE]["X"], np.shape(test.x), run.fold)
        return scores(fit.posterior, test) | {
            "ood_accuracy": _ood_accuracy(fit.posterior, test, outside),
            "validation_expected_log_likelihood": metrics.expected_log_likelihood(
                fit.posterior.predict(validation.x), validation.y
            ),
            "best_step": float(fit.history.best_step),
            "prior_seconds": chosen - began,
            "fit_seconds": fitted - chosen,
        }

    def datasets(self, run: Run) -> tuple[str, ...]:
        return (run.dataset, OUTSIDE)


def scores(posterior: Model, test: Data) -> dict[str, float]:
    """Scores of predictions, on the standardised scale."""
    predictive = posterior.predict(test.x)
    return {
        "expected_log_likelihood": metrics.expected_log_likelihood(predictive, test.y),
        "log_predictive_density": metrics.log_predictive_density(predictive, test.y),
        "mse": metrics.mse(predictive, test.y),
        "crps": metrics.crps(predictive, test.y),
        "coverage": metrics.coverage(predictive, test.y),
        "noise": float(np.mean(np.asarray(posterior.likelihood.noise))),
    }


def outside_rows(rows: np.ndarray, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """As many rows with as many features of the other table, standardised by themselves.

    Where it has too few rows, further blocks of its columns stand for further rows.
    """
    num_rows, num_features = shape
    num_blocks = max(1, min(rows.shape[1] // num_features, -(-num_rows // len(rows))))
    blocks = [rows[:, i * num_features : (i + 1) * num_features] for i in range(num_blocks)]
    pool = np.concatenate([standardized(block, block) for block in blocks])
    order = np.random.default_rng(seed).permutation(len(pool))
    return pool[order[:num_rows]]


def _ood_accuracy(posterior: Model, test: Data, outside: np.ndarray) -> float:
    inside = posterior.predict(np.asarray(test.x)[: len(outside)]).epistemic_std
    return metrics.out_of_distribution_accuracy(inside, posterior.predict(outside).epistemic_std)


def function_moments(model: Model, x: Any, key: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the function alone, at each point."""
    values = model.function.marginals(x, key=key)
    return np.ravel(values.mean), np.sqrt(np.ravel(values.variance))
