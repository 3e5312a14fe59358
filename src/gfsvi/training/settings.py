"""How long and how to train, who watches, and where progress is kept."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from gfsvi.training.optimizers import AbstractOptimizer, Adam


class Checkpoint(Protocol):
    """A place that keeps the state of one training run, as nested dicts and lists of arrays."""

    def load(self) -> dict[str, Any] | None:
        """The last saved state, if there is one."""
        ...

    def save(self, content: dict[str, Any], *, finished: bool) -> None:
        """Keep this state; a checkpoint may skip states that are not `finished`."""
        ...


class Progress(NamedTuple):
    """How far training has come."""

    step: int
    num_steps: int
    objective: float
    score: float | None


@dataclasses.dataclass(frozen=True)
class Training:
    """How long and how to train.

    Args:
        num_steps: The maximum number of steps.
        optimizer: How to move: `Adam`, `LBFGS`, `FullBatchUpTo` or any `Optax` transformation.
        evaluate_every: Steps between two evaluations of the validation score.
        patience: Evaluations without improvement before stopping early.
        watch: Called with the `Progress` after every evaluation; return True to stop.
        checkpoint: Called once per run for the place that keeps its state; a run that finds its
            state there continues from it, to exactly the same end.
    """

    num_steps: int = 500
    optimizer: AbstractOptimizer = Adam()
    evaluate_every: int = 25
    patience: int = 20
    watch: Callable[[Progress], bool | None] | None = None
    checkpoint: Callable[[], Checkpoint] | None = None

    def for_rows(self, num_rows: int) -> "Training":
        """The same training with the optimiser and number of steps for this many rows."""
        pace = self.optimizer.paced(self.num_steps, self.evaluate_every, num_rows)
        return dataclasses.replace(self, **pace._asdict())
