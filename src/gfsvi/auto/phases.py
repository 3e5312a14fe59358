"""The phases of a fit, each with progress, a checkpoint and a share of the time budget."""

import dataclasses
import math
import time

from gfsvi.auto.parameters import Watch
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.training.settings import Progress, Training

PRIOR, MEAN, POSTERIOR, EXAMINATION = "prior", "mean", "posterior", "examination"
SHARES = {PRIOR: 0.4, MEAN: 0.7, POSTERIOR: 1.0}
"""The share of the training time by which each phase must end."""
AFTERWARDS = 7.0
"""Seconds needed after training for noise, novelty and diagnostics, mostly to compile them."""


class Phases:
    """Adds time limit, progress and checkpoint to a `Training`."""

    def __init__(self, checkpoints: Checkpoints | None, watch: Watch | None, budget: float | None):
        self._checkpoint = None if checkpoints is None else checkpoints.begin
        self._watch = watch
        self._budget = budget
        self._began = time.monotonic()

    def training(self, training: Training, phase: str) -> Training:
        """The same training, stopped when the phase has used its share of the time."""

        def watch(progress: Progress) -> bool:
            told_to = self._watch is not None and bool(self._watch(phase, progress))
            return told_to or self._is_late(SHARES[phase])

        return dataclasses.replace(training, watch=watch, checkpoint=self._checkpoint)

    def begin_examination(self) -> None:
        """Tell that training is over and the result is being examined."""
        if self._watch is not None:
            self._watch(EXAMINATION, Progress(0, 1, math.nan, None))

    def _is_late(self, share: float) -> bool:
        if self._budget is None:
            return False
        usable = max(self._budget - AFTERWARDS, 0.1 * self._budget)
        return time.monotonic() - self._began > share * usable
