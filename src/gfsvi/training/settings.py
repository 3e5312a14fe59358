"""How long and how fast to train."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import optax

from gfsvi.training.steps import (
    Where,
)

QUASI_NEWTON_WORTH = 5
"""So many steps of Adam, or more, does one of L-BFGS stand for."""


class Checkpoint(Protocol):
    """A place where one run of training is remembered, as nested dicts and lists of arrays."""

    def load(self) -> dict[str, Any] | None:
        """What was saved last, if anything was."""
        ...

    def save(self, content: dict[str, Any], *, finished: bool) -> None:
        """Remember this; a checkpoint may pass over what is not `finished`."""
        ...


class Progress(NamedTuple):
    """How far training has come, for whoever watches it."""

    step: int
    num_steps: int
    objective: float
    score: float | None


@dataclasses.dataclass(frozen=True)
class Training:
    """How long and how fast to train.

    Args:
        num_steps: AbstractSteps[Any] at most.
        stretch: How many times as many steps there may be where there are more rows than in a
            batch: as often as the rows are a batch, and at most this often.
        batch_size: Rows a step; all of them where there are fewer.
        learning_rate: Peak of a cosine schedule that warms up over the first steps.
        optimizer: Any optax optimiser instead of Adam with that schedule.
        all_at_once: Of more rows than a batch has, and up to so many, the steps are of L-BFGS on
            all rows, and a fifth as many: for objectives that are the same at every step.
        quasi_newton: Whether the steps are of L-BFGS, for any number of rows.
        slow: Picks the parts of the model that move at a thirtieth of the rate.
        evaluate_every: Steps between two looks at the validation score.
        patience: Looks without improvement before stopping early.
        watch: Called with the `Progress` after every look; return True to stop.
        checkpoint: Called once a run for the place where to remember how far it has come;
            a run that finds itself there goes on from it, to exactly the same end.
    """

    num_steps: int = 500
    stretch: float = 1.0
    batch_size: int = 2000
    learning_rate: float = 1e-2
    optimizer: optax.GradientTransformation | None = None
    all_at_once: int = 0
    quasi_newton: bool = False
    slow: Where | None = None
    evaluate_every: int = 25
    patience: int = 20
    watch: Callable[[Progress], bool | None] | None = None
    checkpoint: Callable[[], Checkpoint] | None = None

    def for_rows(self, num_rows: int) -> "Training":
        """The same with the kind and the number of steps for so many rows."""
        factor = min(max(1.0, num_rows / self.batch_size), self.stretch)
        sized = dataclasses.replace(
            self, num_steps=round(factor * self.num_steps), stretch=1.0, all_at_once=0
        )
        if not self.batch_size < num_rows <= self.all_at_once:
            return sized
        return dataclasses.replace(
            sized,
            quasi_newton=True,
            num_steps=-(-sized.num_steps // QUASI_NEWTON_WORTH),
            evaluate_every=-(-sized.evaluate_every // QUASI_NEWTON_WORTH),
        )

    def build_optimizer(self) -> optax.GradientTransformation:
        """The optimiser of a run."""
        if self.optimizer is not None:
            return self.optimizer
        return _adam(self.learning_rate, max(self.num_steps, 1))


@functools.cache  # the same object every time, so that equal runs are compiled once
def _adam(learning_rate: float, num_steps: int) -> optax.GradientTransformation:
    schedule = optax.warmup_cosine_decay_schedule(
        0.1 * learning_rate,
        learning_rate,
        min(50, num_steps // 10),
        num_steps,
        1e-3 * learning_rate,
    )
    return optax.chain(optax.clip_by_global_norm(1e3), optax.adam(schedule))
