"""How long a fit in closed form takes, and which simpler one ends within a time budget."""

import dataclasses
import math
import warnings
from collections.abc import Collection
from typing import NamedTuple

from gfsvi.auto.phases import IN_WORDS
from gfsvi.auto.problem import Problem
from gfsvi.auto.settings import Settings
from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.diagnostics import Diagnostic
from gfsvi.inference.adaptive_fit import NUM_ROUNDS as ADAPTIVE_ROUNDS
from gfsvi.inference.conjugate import MANY_OUTPUTS
from gfsvi.inference.conjugate_fit import NUM_ROUNDS
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.networks.in_numpy import is_in_numpy
from gfsvi.numerics.clock import Clock, operations_per_second

SHARE_OF_POSTERIOR = 0.35
"""Of the time budget; the rest is for the prior, the mean and the examination of the result."""
FEWEST_POINTS = 40
NUM_ROUNDS_IN_HASTE = 6
NUM_EXAMINED = 1000
"""Rows that are predicted in the end."""
EFFICIENCY = 0.4
"""Of the speed of a product of matrices, since not all is one."""
VERY_LONG = 120.0
"""Seconds beyond which a fit says first how long it will take."""
OVERRUN = 1.1
"""A fit that exceeds its time budget by more than a tenth is over budget."""
CERTAINLY_SHORT = 1e10
"""Operations that take seconds on any machine, so that its speed need not be measured."""


class LongFitWarning(UserWarning):
    """A fit that will take minutes."""


class Work(NamedTuple):
    """The sizes that decide how long it takes to compute a posterior in closed form."""

    num_rows: int
    num_features: int
    num_points: int
    num_outputs: int
    num_units: int
    num_rounds: int
    num_fits: int = 1

    def operations(self) -> float:
        """Multiplications and additions, up to terms that do not matter for large tables."""
        rows, points, outputs = self.num_rows + NUM_EXAMINED, self.num_points, self.num_outputs
        # Many outputs share what interpolates between the points.
        kinds = 1 if outputs > MANY_OUTPUTS else outputs
        distances = 4 * rows * points * self.num_features
        interpolation = kinds * rows * points * (4 * points + 4 * self.num_units)
        of_round = outputs * (4 * rows * points**2 + 8 * points**3)
        rounds = self.num_rounds * of_round + 20 * outputs * points**3
        return self.num_fits * (distances + interpolation + rounds)

    def seconds(self) -> float:
        """How long it takes on this machine, as busy as it is."""
        return self.operations() / (EFFICIENCY * operations_per_second())


def work_of(problem: Problem, method: AbstractMethod, *, in_haste: bool = False) -> Work | None:
    """The work of a posterior in closed form; None for other methods and for images."""
    settings = problem.settings
    if not isinstance(method, GFSVI) or not isinstance(method.covariance, ClosedForm):
        return None
    if settings.image_shape is not None or settings.num_points is None:
        return None
    if not is_in_numpy(method.network):
        return None
    rounds = NUM_ROUNDS_IN_HASTE if in_haste else NUM_ROUNDS
    return Work(
        settings.num_rows,
        settings.num_features,
        settings.num_points,
        problem.num_outputs,
        sum(settings.hidden),
        _num_passes(problem.likelihood, rounds),
        2 if problem.apart.validates_apart else 1,  # again with the rows that were judged
    )


def _num_passes(likelihood: AbstractLikelihood, rounds: int) -> int:
    """How often the sums over rows are made."""
    if not likelihood.solved_as_normal:
        return rounds
    return 1 + ADAPTIVE_ROUNDS if isinstance(likelihood, AdaptiveNormal) else 1


def affordable(problem: Problem, method: AbstractMethod, clock: Clock) -> Problem:
    """The problem with sizes for which there is time; without a limit, a long fit says so first."""
    if math.isinf(clock.left):
        if (sentence := long_fit(work_of(problem, method))) is not None:
            warnings.warn(sentence, LongFitWarning, stacklevel=5)
        return problem
    work = work_of(problem, method, in_haste=True)
    return dataclasses.replace(problem, settings=simplified(problem.settings, work, clock.left))


def simplified(settings: Settings, work: Work | None, seconds: float) -> Settings:
    """The settings with as many measurement points as can be afforded in so many seconds."""
    if work is None or math.isinf(seconds):
        return settings
    allowed = SHARE_OF_POSTERIOR * seconds * EFFICIENCY * operations_per_second()
    points = work.num_points
    while points > FEWEST_POINTS and work._replace(num_points=points).operations() > allowed:
        points = max(FEWEST_POINTS, int(0.8 * points))
    return dataclasses.replace(settings, num_points=points)


def long_fit(work: Work | None) -> str | None:
    """A sentence about a fit that will take minutes."""
    if work is None or work.operations() < CERTAINLY_SHORT or work.seconds() < VERY_LONG:
        return None
    return (
        f"This fit will take about {work.seconds() / 60:.0f} minutes: set a time budget, such as "
        "`--time-budget 60`, in Python `time_budget=60`, for a simpler one."
    )


def simpler_fit(wanted: Settings, used: Settings, cut: Collection[str]) -> Diagnostic | None:
    """Say what was left out for the sake of the time budget."""
    done = []
    if used.num_points != wanted.num_points:
        done.append(f"{used.num_points} instead of {wanted.num_points} measurement points")
    done += [f"fewer steps for {IN_WORDS[phase]}" for phase in IN_WORDS if phase in cut]
    if not done:
        return None
    return Diagnostic(
        "simplified",
        "note",
        "A simpler fit was made to meet the time budget",
        f"It has {', '.join(done)}.",
        "With more time the model may be better: raise `--time-budget`, in Python `time_budget`.",
    )


def over_budget(seconds: float, budget: float | None) -> Diagnostic | None:
    """Warn of a fit that took longer than it was allowed to."""
    if budget is None or seconds <= OVERRUN * budget + 1:
        return None
    more = max(60, 10 * math.ceil(seconds / 5))
    return Diagnostic(
        "over_budget",
        "warning",
        "The fit exceeded its time budget",
        f"It took {seconds:.0f} s instead of {budget:.0f} s, and training stopped early: with more "
        "time the model may be better.",
        f"Run `gfsvi fit` with `--time-budget {more}`, in Python `time_budget={more}`, or choose a "
        "quicker method: `--method map`.",
    )
