"""Time limit, progress and checkpoint of the training phases of a fit."""

import dataclasses
import math
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gfsvi.auto.parameters import Watch
from gfsvi.inference.adaptive_fit import NUM_ROUNDS
from gfsvi.numerics.clock import Clock
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.training.settings import Progress, Training

PRIOR, MEAN, POSTERIOR = "prior", "mean", "posterior"
MEMBERS, DIAGNOSTICS = "members", "diagnostics"
LAST_FIT, EXAMINATION = "last fit", "examination"
FOLDS = "folds"
IN_WORDS = {PRIOR: "the prior", MEAN: "the network", POSTERIOR: "the posterior"}
PASSES = 1 + NUM_ROUNDS
"""Over rows that are read from a stream: one for the noise, and one per round of its function."""
AFTERWARDS = 7.0
"""Seconds needed after training for noise, novelty and diagnostics, mostly to compile them."""
SHARE_AFTERWARDS, MOST_RESERVED = 0.15, 0.65
"""Of the budget of a fit that compiles nothing: for the end, and at most for the posterior."""


class Stage(NamedTuple):
    """A stage of a fit: the seconds that it is known to need, and its share of all other time."""

    name: str
    share: float = 0.0
    seconds: float = 0.0


class Phases:
    """Who may take how long, and adds time limit, progress and checkpoint to a `Training`.

    A stage asks `clock_of(stage).left` how long it may take, to choose its sizes before it begins,
    and between its steps `is_over(stage)` whether to end with what it has. To add a stage, add a
    `Stage` to `_stages` where it comes in the order of the fit, with a share of the time or an
    estimate of the seconds that it needs; all others get less. A stage in `IN_WORDS` that the clock
    has ended is named in the report.

    Args:
        checkpoints: Where the state of training is kept, if anywhere.
        watch: Told about progress.
        budget: The time limit in seconds, from now.
        reserved: The seconds that it takes to compute the posterior; None if it is trained.
        again: The seconds that it takes to compute it again, with rows that were held out.
    """

    def __init__(
        self,
        checkpoints: Checkpoints | None,
        watch: Watch | None,
        budget: float | None,
        reserved: float | None = None,
        again: float = 0.0,
    ):
        self._checkpoint = None if checkpoints is None else checkpoints.begin
        self._watch = watch
        self.clock = Clock(budget)
        stages = () if budget is None else _stages(budget, reserved, again)
        self._after = {} if budget is None else seconds_after(stages, budget)
        self.cut: set[str] = set()
        """The phases that were ended by the clock."""

    def training(self, training: Training, phase: str) -> Training:
        """The same training, stopped when the phase has used its share of the time."""

        def watch(progress: Progress) -> bool:
            return self._watch is not None and bool(self._watch(phase, progress))

        return dataclasses.replace(
            training, watch=watch, checkpoint=self._checkpoint, is_over=self.is_over(phase)
        )

    def clock_of(self, phase: str) -> Clock:
        """A clock that is over when the phase has to end."""
        return self.clock.leaving(self._after[phase]) if self._after else self.clock

    def is_over(self, phase: str) -> Callable[[], bool] | None:
        """Asks whether a phase has used its share of the time; None without a time limit."""
        if not self._after:
            return None

        def is_over() -> bool:
            late = self.clock.is_over(self._after[phase])
            self.cut |= {phase} if late else set()
            return late

        return is_over

    def has_time_for(self, seconds: float, phase: str) -> bool:
        """Whether so many seconds are left until the phase has to end."""
        return not self.clock_of(phase).is_over(seconds)

    def posterior_of_rows(self, num_rows: int) -> Callable[[int], None] | None:
        """A callback that counts rows as they are added up and reports progress, if watched.

        Args:
            num_rows: The number of rows in a pass.
        """
        watch = self._watch
        if watch is None:
            return None
        expected, added, lock = PASSES * num_rows, 0, threading.Lock()

        def on_added(count: int) -> None:
            nonlocal added
            with lock:  # rows are added up in several threads
                added = min(added + count, expected)
                watch(POSTERIOR, Progress(added, expected, math.nan, None))

        return on_added

    def begin(self, stage: str) -> bool:
        """Tell that a stage without steps begins; True if the fit was asked to stop."""
        if self._watch is None:
            return False
        return bool(self._watch(stage, Progress(0, 1, math.nan, None)))


def _stages(budget: float, reserved: float | None, again: float) -> tuple[Stage, ...]:
    """The stages of a fit, in their order."""
    if reserved is None:
        after = min(AFTERWARDS, 0.9 * budget)
        shares = (Stage(PRIOR, 0.4), Stage(MEAN, 0.3), Stage(POSTERIOR, 0.3))
        last = (Stage(MEMBERS), Stage(DIAGNOSTICS, seconds=0.8 * after), Stage(LAST_FIT))
        return (*shares, *last, Stage(EXAMINATION, seconds=0.2 * after))
    scale = min(1.0, MOST_RESERVED * budget / max(reserved + again, 1e-9))
    return (
        Stage(PRIOR, 0.45),
        Stage(MEAN, 0.55),
        Stage(POSTERIOR, seconds=scale * reserved),
        Stage(MEMBERS),
        Stage(DIAGNOSTICS, seconds=0.5 * SHARE_AFTERWARDS * budget),
        Stage(LAST_FIT, seconds=scale * again),
        Stage(EXAMINATION, seconds=0.5 * SHARE_AFTERWARDS * budget),
    )


def of_second_network(watch: Watch | None) -> Watch | None:
    """The same watch, told that stages are those of the second network."""
    if watch is None:
        return None
    return lambda stage, progress: watch(f"{stage} beside trees", progress)


def seconds_after(stages: Sequence[Stage], budget: float) -> dict[str, float]:
    """The seconds that must be left at the end of each stage."""
    shared = budget - sum(stage.seconds for stage in stages)
    whole = sum(stage.share for stage in stages)
    left, found = budget, {}
    for stage in stages:
        left -= stage.seconds + stage.share / whole * shared
        found[stage.name] = max(left, 0.0)
    return found
