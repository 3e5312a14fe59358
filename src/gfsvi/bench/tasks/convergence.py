"""How the validation score grows while a method trains."""

from typing import Any

import jax
import numpy as np

from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.experiment import Run
from gfsvi.bench.folds import fold_of
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.bench.tasks.regression import scores

CLOSE = 0.05
"""Nats: from here on a score counts as converged."""


class Convergence(AbstractTask):
    """Validation expected log-likelihood against steps of training."""

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        table = arrays[run.dataset]
        data, validation, test = fold_of(table["X"], table["y"], run.fold)
        key = jax.random.key(run.fold + 1000 * run.seed, impl="rbg")
        method = build_method(run.settings)
        prior = prior_for(method, data, run.settings, key)
        fit = method(prior, data, key=key, validation=validation)
        steps, found = fit.history.score_steps, fit.history.scores
        first = int(steps[np.argmax(found >= np.max(found) - CLOSE)])
        return scores(fit.posterior, test) | {
            "steps_until_close": float(first),
            "best_validation_score": float(np.max(found)),
            "steps": steps,
            "scores": found,
        }
