"""Settings of a training run: length, optimiser, watcher and checkpoint."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from gfsvi.training.optimizers import AbstractOptimizer, Adam

Content: TypeAlias = dict[str, Any]
"""Nested dicts and lists of arrays and numbers."""


class Checkpoint(Protocol):
    """Storage for the state of one training run, as nested dicts and lists of arrays."""

    def load(self) -> Content | None:
        """Load the last saved state, if there is one."""
        ...

    def save(self, content: Content, *, finished: bool) -> None:
        """Save this state; a checkpoint may skip states that are not `finished`."""
        ...


class Progress(NamedTuple):
    """The progress of a training run."""

    step: int
    num_steps: int
    objective: float
    score: float | None


@dataclasses.dataclass(frozen=True)
class Training:
    """The length and optimiser of a training run.

    Args:
        num_steps: The maximum number of steps.
        optimizer: `Adam`, `LBFGS`, `FullBatchUpTo` or any `Optax` transformation.
        evaluate_every: Steps between two evaluations of the validation score.
        patience: Evaluations without improvement before stopping early.
        watch: Called with the `Progress` after every evaluation; return True to stop.
        checkpoint: Called once per run for the place that keeps its state; a run that finds its
            state there continues from it, to exactly the same end.
        is_over: Asked at least after every evaluation whether the time for this run is over.
    """

    num_steps: int = 500
    optimizer: AbstractOptimizer = Adam()
    evaluate_every: int = 25
    patience: int = 20
    watch: Callable[[Progress], bool | None] | None = None
    checkpoint: Callable[[], Checkpoint] | None = None
    is_over: Callable[[], bool] | None = None

    def must_end(self, progress: Progress) -> bool:
        """Tell the watcher, and ask it and the clock whether to stop."""
        told = self.watch is not None and bool(self.watch(progress))
        return told or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether the time for this run is over."""
        return self.is_over is not None and self.is_over()

    def for_rows(self, num_rows: int) -> "Training":
        """The same training with the optimiser and number of steps for this many rows."""
        pace = self.optimizer.paced(self.num_steps, self.evaluate_every, num_rows)
        return dataclasses.replace(self, **pace._asdict())
