"""Optimisers: how parameters are updated, and how many rows a step uses."""

import abc
import dataclasses
import functools
from typing import NamedTuple

import optax
from jaxtyping import PyTree

from gfsvi.training.quasi_newton import QuasiNewtonSteps
from gfsvi.training.steps import AbstractSteps, BatchSteps, Objective, Where

LBFGS_WORTH = 5
"""One step of L-BFGS replaces at least this many steps of Adam."""


class Pace(NamedTuple):
    """An optimiser for a known number of rows, with its steps and the steps between evaluations."""

    optimizer: "AbstractOptimizer"
    num_steps: int
    evaluate_every: int


@dataclasses.dataclass(frozen=True)
class AbstractOptimizer(abc.ABC):
    """A way to maximise an objective."""

    @abc.abstractmethod
    def paced(self, num_steps: int, evaluate_every: int, num_rows: int) -> Pace:
        """The optimiser and number of steps to use for this many rows."""

    @abc.abstractmethod
    def rows_per_step(self, num_rows: int) -> int:
        """Number of rows that a step uses."""

    @abc.abstractmethod
    def steps(
        self, objective: Objective, params: PyTree, rest: PyTree, num_rows: int, num_steps: int
    ) -> AbstractSteps:
        """The steps of a run over these parameters."""


@dataclasses.dataclass(frozen=True)
class Adam(AbstractOptimizer):
    """Adam with a cosine schedule that warms up over the first steps.

    Args:
        learning_rate: Peak of the schedule.
        batch_size: Rows per step; all of them where there are fewer.
        max_step_multiplier: With more rows than a batch holds, the number of steps grows with the
            number of batches, up to this factor.
        slow: Picks the parts of the model that move at a thirtieth of the rate.
    """

    learning_rate: float = 1e-2
    batch_size: int = 2000
    max_step_multiplier: float = 1.0
    slow: Where | None = None

    def paced(self, num_steps: int, evaluate_every: int, num_rows: int) -> Pace:
        factor = min(max(1.0, num_rows / self.batch_size), self.max_step_multiplier)
        optimizer = dataclasses.replace(self, max_step_multiplier=1.0)
        return Pace(optimizer, round(factor * num_steps), evaluate_every)

    def rows_per_step(self, num_rows: int) -> int:
        return min(self.batch_size, num_rows)

    def steps(
        self, objective: Objective, params: PyTree, rest: PyTree, num_rows: int, num_steps: int
    ) -> AbstractSteps:
        size = self.rows_per_step(num_rows)
        return BatchSteps(
            objective, _adam(self.learning_rate, max(num_steps, 1)), rest, size, self.slow
        )


@dataclasses.dataclass(frozen=True)
class LBFGS(AbstractOptimizer):
    """L-BFGS with a line search on all rows, for objectives that are the same at every step."""

    def paced(self, num_steps: int, evaluate_every: int, num_rows: int) -> Pace:
        return Pace(self, num_steps, evaluate_every)

    def rows_per_step(self, num_rows: int) -> int:
        return num_rows

    def steps(
        self, objective: Objective, params: PyTree, rest: PyTree, num_rows: int, num_steps: int
    ) -> AbstractSteps:
        return QuasiNewtonSteps.over(objective, params, rest)


@dataclasses.dataclass(frozen=True)
class FullBatchUpTo(AbstractOptimizer):
    """Full-batch L-BFGS from one batch of rows up to `max_rows`, another optimiser elsewhere.

    Args:
        max_rows: Above this many rows a full batch takes too long.
        otherwise: The optimiser for fewer rows than its batch holds, and for more than `max_rows`.
    """

    max_rows: int = 20_000
    otherwise: Adam = Adam()

    def paced(self, num_steps: int, evaluate_every: int, num_rows: int) -> Pace:
        pace = self.otherwise.paced(num_steps, evaluate_every, num_rows)
        if not self.otherwise.batch_size < num_rows <= self.max_rows:
            return pace
        return Pace(LBFGS(), *(-(-count // LBFGS_WORTH) for count in pace[1:]))

    def rows_per_step(self, num_rows: int) -> int:
        return self.paced(1, 1, num_rows).optimizer.rows_per_step(num_rows)

    def steps(
        self, objective: Objective, params: PyTree, rest: PyTree, num_rows: int, num_steps: int
    ) -> AbstractSteps:
        chosen = self.paced(num_steps, 1, num_rows).optimizer
        return chosen.steps(objective, params, rest, num_rows, num_steps)


@dataclasses.dataclass(frozen=True)
class Optax(AbstractOptimizer):
    """Any optax transformation.

    Args:
        transformation: The optimiser, with its own schedule.
        batch_size: Rows per step; all of them where there are fewer.
    """

    transformation: optax.GradientTransformation
    batch_size: int = 2000

    def paced(self, num_steps: int, evaluate_every: int, num_rows: int) -> Pace:
        return Pace(self, num_steps, evaluate_every)

    def rows_per_step(self, num_rows: int) -> int:
        return min(self.batch_size, num_rows)

    def steps(
        self, objective: Objective, params: PyTree, rest: PyTree, num_rows: int, num_steps: int
    ) -> AbstractSteps:
        return BatchSteps(objective, self.transformation, rest, self.rows_per_step(num_rows))


@functools.cache  # the same object every time, so that equal runs compile only once
def _adam(learning_rate: float, num_steps: int) -> optax.GradientTransformation:
    schedule = optax.warmup_cosine_decay_schedule(
        0.1 * learning_rate,
        learning_rate,
        min(50, num_steps // 10),
        num_steps,
        1e-3 * learning_rate,
    )
    return optax.chain(optax.clip_by_global_norm(1e3), optax.adam(schedule))
