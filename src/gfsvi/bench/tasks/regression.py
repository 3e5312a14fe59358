"""Regression on tables, with detection of rows from another table."""

import time
from typing import ClassVar

import numpy as np

from gfsvi import metrics
from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.data.folds import standardized_like
from gfsvi.bench.experiment import Run
from gfsvi.bench.tables import key_of, scores, split_of
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.data import Data
from gfsvi.model import Model

OUTSIDE = "song"


class Regression(AbstractTask):
    """Scores on the held-out rows of a fold, and on separating them from rows of other data."""

    needed_for: ClassVar[dict[str, tuple[str, ...]]] = {OUTSIDE: ("ood_accuracy",)}

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, float]:
        data, validation, test = split_of(run, arrays)
        key = key_of(run)
        began = time.perf_counter()
        method = build_method(run.settings)
        prior = prior_for(method, data, run.settings, key)
        chosen = time.perf_counter()
        fit = method(prior, data, key=key, validation=validation)
        fitted = time.perf_counter()
        found = scores(fit.posterior, test)
        if OUTSIDE in arrays:
            outside = outside_rows(arrays[OUTSIDE]["X"], np.shape(test.x), run.fold)
            found["ood_accuracy"] = _ood_accuracy(fit.posterior, test, outside)
        return found | {
            "validation_expected_log_likelihood": metrics.expected_log_likelihood(
                fit.posterior.predict(validation.x), validation.y
            ),
            "best_step": float(fit.history.best_step),
            "prior_seconds": chosen - began,
            "fit_seconds": fitted - chosen,
        }

    def datasets(self, run: Run) -> tuple[str, ...]:
        return (run.dataset, *(name for name in self.needed_for if name not in run.without))


def outside_rows(rows: np.ndarray, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Rows of another table in the given shape, standardised on their own.

    If the table has too few rows, further blocks of its columns serve as additional rows.
    """
    num_rows, num_features = shape
    num_blocks = max(1, min(rows.shape[1] // num_features, -(-num_rows // len(rows))))
    blocks = [rows[:, i * num_features : (i + 1) * num_features] for i in range(num_blocks)]
    pool = np.concatenate([standardized_like(block, block) for block in blocks])
    order = np.random.default_rng(seed).permutation(len(pool))
    return pool[order[:num_rows]]


def _ood_accuracy(posterior: Model, test: Data, outside: np.ndarray) -> float:
    inside = posterior.predict(np.asarray(test.x)[: len(outside)]).epistemic_std
    return metrics.out_of_distribution_accuracy(inside, posterior.predict(outside).epistemic_std)
