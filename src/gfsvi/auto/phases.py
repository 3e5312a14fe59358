"""Time limit, progress and checkpoint of the training phases of a fit."""

import dataclasses
import math
from collections.abc import Callable

from gfsvi.auto.parameters import Watch
from gfsvi.numerics.clock import Clock
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.training.settings import Progress, Training

PRIOR, MEAN, POSTERIOR, EXAMINATION = "prior", "mean", "posterior", "examination"
IN_WORDS = {PRIOR: "the prior", MEAN: "the network", POSTERIOR: "the posterior"}
SHARES = {PRIOR: 0.4, MEAN: 0.7, POSTERIOR: 1.0}
"""The share of the training time by which each phase must end."""
AFTERWARDS = 7.0
"""Seconds needed after training for noise, novelty and diagnostics, mostly to compile them."""
SHARE_AFTERWARDS, SHARE_OF_PRIOR = 0.15, 0.45
"""Of a fit that compiles nothing: the share of its time for the end, and the share of the prior in
what is left before the posterior is computed."""


class Phases:
    """Adds time limit, progress and checkpoint to a `Training`.

    Args:
        checkpoints: Where the state of training is kept, if anywhere.
        watch: Told about progress.
        budget: The time limit in seconds, from now.
        reserved: The seconds that it takes to compute the posterior; None if it is trained.
    """

    def __init__(
        self,
        checkpoints: Checkpoints | None,
        watch: Watch | None,
        budget: float | None,
        reserved: float | None = None,
    ):
        self._checkpoint = None if checkpoints is None else checkpoints.begin
        self._watch = watch
        self.clock = Clock(budget)
        self._after = {} if budget is None else _seconds_after(budget, reserved)
        self.cut: set[str] = set()
        """The phases that were ended by the clock."""

    def training(self, training: Training, phase: str) -> Training:
        """The same training, stopped when the phase has used its share of the time."""

        def watch(progress: Progress) -> bool:
            return self._watch is not None and bool(self._watch(phase, progress))

        return dataclasses.replace(
            training, watch=watch, checkpoint=self._checkpoint, is_over=self.is_over(phase)
        )

    def is_over(self, phase: str) -> Callable[[], bool] | None:
        """Asks whether a phase has used its share of the time; None without a time limit."""
        if not self._after:
            return None

        def is_over() -> bool:
            late = self.clock.is_over(self._after[phase])
            self.cut |= {phase} if late else set()
            return late

        return is_over

    def begin_examination(self) -> None:
        """Tell that training is over and the result is being examined."""
        if self._watch is not None:
            self._watch(EXAMINATION, Progress(0, 1, math.nan, None))


def _seconds_after(budget: float, reserved: float | None) -> dict[str, float]:
    """The seconds that must be left at the end of each phase."""
    if reserved is None:
        usable = max(budget - AFTERWARDS, 0.1 * budget)
        ends = {phase: share * usable for phase, share in SHARES.items()}
    else:
        last = (1 - SHARE_AFTERWARDS) * budget
        before = max(0.2 * budget, last - reserved)
        ends = {PRIOR: SHARE_OF_PRIOR * before, MEAN: before, POSTERIOR: last}
    return {phase: budget - end for phase, end in ends.items()}
