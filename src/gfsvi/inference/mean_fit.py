"""Fits of the mean of a linearised network, before its covariance."""

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.inference import gauss_newton
from gfsvi.inference.evidence import no_history
from gfsvi.inference.mean_objectives import MeanObjective, MovingMeanObjective, mean_score
from gfsvi.inference.models import LinearizedModel as Linearized
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox, begins_with
from gfsvi.streams.stream import Stream
from gfsvi.training.history import Fit
from gfsvi.training.loop import compile_ahead, maximize
from gfsvi.training.optimizers import Adam, FullBatchUpTo
from gfsvi.training.settings import Training
from gfsvi.training.steps import Objective

if TYPE_CHECKING:  # type checkers recognise class variables by this name only
    from typing import ClassVar as AbstractClassVar
else:
    from equinox import AbstractClassVar

MAX_MEAN_ROWS = 2000
"""With up to this many rows, all of them are measurement points of the mean."""


class MeanProblem(eqx.Module):
    """A prior, its measurement points, and the rows to learn from.

    `then_solved` says that the closed form follows, which moves the mean to its optimum. Rows that
    are not in memory are in `stream`, and `data` is a sample of them.
    """

    prior: AbstractRandomFunction
    points: AbstractPoints
    gamma: float = eqx.field(static=True)
    data: Data
    then_solved: bool = eqx.field(static=True, default=False)
    stream: Stream | None = eqx.field(static=True, default=None)

    @property
    def has_images(self) -> bool:
        """Whether inputs are images, which need new measurement points at every step."""
        return np.ndim(self.data.x) > 2


class AbstractMeanFit(eqx.Module):
    """A way to fit the mean of a linearised network."""

    holds_mean: AbstractClassVar[bool]
    """Whether later training should move the mean only slowly, because it is converged."""

    @abstractmethod
    def __call__(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> Fit[Linearized]:
        """Fit the mean of the model to data and prior."""

    @abstractmethod
    def precompile(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> None:
        """Compile what a call runs for such arguments; arrays may be replaced by shapes."""

    @abstractmethod
    def chosen_for(self, start: Linearized, problem: MeanProblem) -> "AbstractMeanFit":
        """The fit that is used for this problem."""


class TrainedMean(AbstractMeanFit):
    """Gradient steps on the likelihood and the distance to the prior.

    Args:
        training: Steps and optimiser.
    """

    holds_mean: ClassVar[bool] = True

    training: Training = eqx.field(
        static=True,
        default=Training(
            num_steps=2000,
            optimizer=FullBatchUpTo(20_000, Adam(3e-3, max_step_multiplier=4)),
            evaluate_every=100,
        ),
    )

    def __call__(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> Fit[Linearized]:
        posterior, history = maximize(
            self._objective(problem, key),
            start,
            problem.data,
            self._training(problem),
            key=key,
            fixed=_all_but_the_mean,
            validation=_held_out(problem, validation),
            score=mean_score,
        )
        return Fit(posterior, history)

    def precompile(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> None:
        compile_ahead(
            eqx.filter_eval_shape(lambda k: self._objective(problem, k), key),
            start,
            problem.data,
            self._training(problem),
            key=key,
            fixed=_all_but_the_mean,
            validation=_held_out(problem, validation),
            score=mean_score,
        )

    def chosen_for(self, start: Linearized, problem: MeanProblem) -> "TrainedMean":
        return self

    def _training(self, problem: MeanProblem) -> Training:
        """The training for these rows; a line search cannot follow points that change."""
        optimizer = self.training.optimizer
        if problem.has_images and isinstance(optimizer, FullBatchUpTo):
            return dataclasses.replace(self.training, optimizer=optimizer.otherwise).for_rows(
                len(problem.data)
            )
        return self.training.for_rows(len(problem.data))

    def _objective(self, problem: MeanProblem, key: PRNGKeyArray) -> Objective:
        """The objective; its points are factorised only once, so there can be more of them."""
        if problem.has_images:
            return MovingMeanObjective(problem.prior, problem.points, problem.gamma)
        data, points = problem.data, problem.points
        if not begins_with(points, data.x):
            few = len(data) <= MAX_MEAN_ROWS
            rows = FixedPoints() if few else BatchRows(MAX_MEAN_ROWS)
            points = Mixture((rows, UniformBox(100))).bind(data.x)
        x = draw_points(points, jnp.asarray(data.x), key)
        in_full = self._training(problem).optimizer.rows_per_step(len(data)) == len(data)
        rows_lead = in_full and begins_with(points, data.x)
        return MeanObjective.of(problem.prior, x, problem.gamma, rows_lead=rows_lead)


class GaussNewtonMean(AbstractMeanFit):
    """Damped Gauss-Newton steps on all rows, for problems whose Jacobian fits in memory.

    Args:
        num_steps: Steps per value of gamma.
        num_rounds: Number of values of gamma, from a weak prior to the given one; without this
            path, a prior of low rank would block every step.
    """

    holds_mean: ClassVar[bool] = False

    num_steps: int = eqx.field(static=True, default=20)
    num_rounds: int = eqx.field(static=True, default=4)

    def __call__(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> Fit[Linearized]:
        x = draw_points(problem.points, jnp.asarray(problem.data.x), key)
        for gamma in np.geomspace(max(1e-3, problem.gamma), problem.gamma, self.num_rounds):
            start = gauss_newton.fit_mean(
                start, problem.prior, problem.data, x, gamma=gamma, num_steps=self.num_steps
            )
        return Fit(start, no_history())

    def precompile(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> None:
        pass

    def chosen_for(self, start: Linearized, problem: MeanProblem) -> "GaussNewtonMean":
        return self


def _held_out(problem: MeanProblem, validation: Data | None) -> Data | None:
    """The rows for early stopping; none if all rows are points, where the prior suffices."""
    return validation if len(problem.data) > MAX_MEAN_ROWS else None


def _all_but_the_mean(model: Linearized) -> PyTree:
    return model.function.state, model.likelihood


@jit_fast_compile
def draw_points(points: AbstractPoints, x: Points, key: PRNGKeyArray) -> Points:
    """Draw measurement points, with `x` as the current batch."""
    return points.draw(x, key=key)
