"""The phases of a fit: each is watched, kept in a checkpoint and held to its share of the time."""

import dataclasses
import time

from gfsvi.auto.parameters import Watch
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.training.settings import Progress, Training

PRIOR, MEAN, POSTERIOR = "prior", "mean", "posterior"
SHARES = {PRIOR: 0.4, MEAN: 0.7, POSTERIOR: 1.0}
"""The share of the time for training that is used up when each phase must have ended."""
AFTERWARDS = 7.0
"""Seconds that noise, novelty and diagnostics take after training, mostly to compile them."""


class Phases:
    """Adds time limit, progress and checkpoint to a `Training`."""

    def __init__(self, checkpoints: Checkpoints | None, watch: Watch | None, budget: float | None):
        self._checkpoint = None if checkpoints is None else checkpoints.begin
        self._watch = watch
        self._budget = budget
        self._began = time.monotonic()

    def training(self, training: Training, phase: str) -> Training:
        """This training, ended when the phase's share of the time is used up."""

        def watch(progress: Progress) -> bool:
            told_to = self._watch is not None and bool(self._watch(phase, progress))
            return told_to or self._is_late(SHARES[phase])

        return dataclasses.replace(training, watch=watch, checkpoint=self._checkpoint)

    def _is_late(self, share: float) -> bool:
        if self._budget is None:
            return False
        usable = max(self._budget - AFTERWARDS, 0.1 * self._budget)
        return time.monotonic() - self._began > share * usable
