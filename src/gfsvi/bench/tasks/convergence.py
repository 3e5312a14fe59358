"""Convergence of the validation score while a method trains."""

import dataclasses
import time
from typing import cast

import numpy as np

from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.experiment import Run
from gfsvi.bench.tables import key_of, scores, split_of
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.inference.elbo import Variational
from gfsvi.methods.base import AbstractMethod

CLOSE = 0.05
"""A score has converged once it is within this many nats of the best."""


class Convergence(AbstractTask):
    """Validation expected log-likelihood against training steps and seconds."""

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        data, validation, test = split_of(run, arrays)
        key = key_of(run)
        method = build_method(run.settings)
        prior = prior_for(method, data, run.settings, key)
        times: list[float] = []
        fit = _timed(method, times)(prior, data, key=key, validation=validation)
        steps, found = fit.history.score_steps, fit.history.scores
        first = float(steps[np.argmax(found >= np.max(found) - CLOSE)])
        # The first interval includes compilation; the median ignores pauses of the machine.
        pace = float(np.median(np.diff(times) / np.diff(steps)))
        return scores(fit.posterior, test) | {
            "steps_until_close": first,
            "seconds_until_close": pace * first,
            "milliseconds_a_step": 1000 * pace,
            "best_validation_score": float(np.max(found)),
            "steps": steps,
            "scores": found,
        }


def _timed(method: AbstractMethod, times: list[float]) -> AbstractMethod:
    """The method, which also records the time of every evaluation."""
    training = dataclasses.replace(
        cast(Variational, method).training, watch=lambda _: times.append(time.perf_counter())
    )
    return dataclasses.replace(method, training=training)
