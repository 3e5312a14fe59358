"""How the validation score grows while a method trains."""

import dataclasses
import time
from typing import Any

import jax
import numpy as np

from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.data.folds import fold_of
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.bench.tasks.regression import scores
from gfsvi.methods.base import AbstractMethod

CLOSE = 0.05
"""Nats: from here on a score counts as converged."""


class Convergence(AbstractTask):
    """Validation expected log-likelihood against steps and seconds of training."""

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        table = arrays[run.dataset]
        data, validation, test = fold_of(table["X"], table["y"], run.fold)
        key = jax.random.key(run.fold + 1000 * run.seed, impl="rbg")
        method = build_method(run.settings)
        prior = prior_for(method, data, run.settings, key)
        looks: list[float] = []
        fit = _watched(method, looks)(prior, data, key=key, validation=validation)
        steps, found = fit.history.score_steps, fit.history.scores
        first = float(steps[np.argmax(found >= np.max(found) - CLOSE)])
        # Before the first look is also compilation; the median minds no pause of the machine.
        pace = float(np.median(np.diff(looks) / np.diff(steps)))
        return scores(fit.posterior, test) | {
            "steps_until_close": first,
            "seconds_until_close": pace * first,
            "milliseconds_a_step": 1000 * pace,
            "best_validation_score": float(np.max(found)),
            "steps": steps,
            "scores": found,
        }


def _watched(method: Any, looks: list[float]) -> AbstractMethod:
    """The method, which notes the time at every look."""
    training = dataclasses.replace(
        method.training, watch=lambda _: looks.append(time.perf_counter())
    )
    return dataclasses.replace(method, training=training)
