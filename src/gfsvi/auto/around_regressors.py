"""Numbers: a network that learns what regressors leave of the targets, beside one that does not.

How far each is trusted, and how observations scatter around both, is chosen by rows that neither
has seen.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.auto.mixing import Combined, Member, mixed
from gfsvi.auto.problem import Problem, Solve
from gfsvi.auto.unseen_rows import unseen_values
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction, correlation_lengths
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.shifted import Shifted, mean_in_numpy
from gfsvi.inference.noise_shape import LeftOut
from gfsvi.inference.unseen_scatter import even_scatter, noise_range, scatter_by
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.normal import Normal
from gfsvi.model import Model
from gfsvi.numerics.randomness import folded, generator
from gfsvi.predictives.base import library_layout, user_layout
from gfsvi.predictives.warp import Unwarped
from gfsvi.prior_means import CrossFitted, cross_fitted
from gfsvi.values import Independent

START_NOISE = 0.3
"""In standard deviations of what regressors leave."""


def around_regressors(
    problem: Problem,
    prior: Model[GaussianProcess, AdaptiveNormal],
    posterior: Model[AbstractRandomFunction, AdaptiveNormal],
    regressors: list[Any],
    *,
    only: bool,
    key: PRNGKeyArray,
    solve: Solve,
    is_over: Callable[[], bool],
) -> Combined:
    """The posterior with scatter chosen by unseen rows, joined by one around regressors.

    Args:
        problem: The rows.
        prior: The prior that was chosen.
        posterior: The posterior under it.
        regressors: Regressors of scikit-learn, whose average is the mean of the second prior; none
            for no second member.
        only: Whether the second member replaces the first.
        key: Determines folds.
        solve: How the second member is fitted.
        is_over: Asked whether the time is over.
    """
    judged = _Judged.of(problem, posterior.likelihood)
    first = judged.member(posterior.function, prior, judged.targets, key=key, is_over=is_over)
    second = _around(judged, problem, regressors, key, solve, is_over) if regressors else None
    members = [second] if only else [first, second]
    found = [member for member in members if member is not None]
    if not found or (first is None and not only):
        return Combined(posterior, None)
    best = mixed(found, judged.log_density)
    lengthscale = np.ravel(np.asarray(correlation_lengths(prior.function, problem.data.x)))
    rows = judged.left_out(best.unseen)
    likelihood = scatter_by(posterior.likelihood, rows, lengthscale, judged.ranges)
    unseen = best.unseen if judged.validation is None else None
    return Combined(Model(best.function, likelihood), unseen)


class _Judged(NamedTuple):
    """Rows on the scale of the warp: those to learn from, and those that were held out, if any."""

    data: Data
    validation: Data | None
    all_targets: np.ndarray

    @classmethod
    def of(cls, problem: Problem, likelihood: AdaptiveNormal) -> "_Judged":
        def warped(rows: Data) -> Data:
            y = likelihood.warp.forward(library_layout(np.asarray(rows.y, np.float64)))
            return Data(rows.x, user_layout(np.asarray(y)), rows.weights)

        held_out, whole = problem.validation, library_layout(warped(problem.rows).y)
        return cls(warped(problem.data), None if held_out is None else warped(held_out), whole)

    @property
    def targets(self) -> np.ndarray:
        """Targets of the rows to learn from, (output, row)."""
        return np.asarray(library_layout(np.asarray(self.data.y)))

    @property
    def ranges(self) -> list[tuple[float, float]]:
        """The range of noise levels of each output."""
        return [noise_range(targets) for targets in self.targets]

    def left_out(self, unseen: Independent) -> list[LeftOut]:
        """Residuals and variances of the rows that were not seen, for each output."""
        rows = self.data if self.validation is None else self.validation
        x, weights = np.asarray(rows.x, np.float64), np.asarray(rows.row_weights)
        residuals = library_layout(np.asarray(rows.y)) - np.asarray(unseen.mean)
        pairs = zip(residuals, np.asarray(unseen.variance), strict=True)
        return [LeftOut(x, r, v, weights) for r, v in pairs]

    def log_density(self, unseen: Independent) -> float:
        """The mean log density of unseen rows, summed over outputs."""
        found = zip(self.left_out(unseen), self.ranges, strict=True)
        return sum(
            float(np.average(even_scatter(rows, bounds)[2], weights=rows.weights))
            for rows, bounds in found
        )

    def member(
        self,
        function: AbstractRandomFunction,
        prior: Model,
        targets: np.ndarray,
        *,
        added: np.ndarray | float = 0.0,
        key: PRNGKeyArray,
        is_over: Callable[[], bool],
    ) -> Member | None:
        """A posterior with its values at unseen rows; None if there are none.

        Held-out rows are predicted by the posterior itself, others by its process in folds; what
        the targets of that are less than those of the problem is `added` again.
        """
        if self.validation is not None:
            x = np.asarray(self.validation.x, np.float64)
            in_numpy = isinstance(function, NumpyFunction)
            values = function.marginals_in_numpy(x) if in_numpy else None
            return None if values is None else Member(function, values)
        noise = np.array(np.broadcast_to(np.ravel(prior.likelihood.noise), len(targets)))
        plain = Model(prior.function, Normal(noise))
        rows = Data(self.data.x, user_layout(targets), self.data.weights)
        values = unseen_values(plain, rows, key=key, is_over=is_over)
        if values is None:
            return None
        return Member(function, Independent(values.mean + added, values.variance))


def _around(
    judged: _Judged,
    problem: Problem,
    regressors: list[Any],
    key: PRNGKeyArray,
    solve: Solve,
    is_over: Callable[[], bool],
) -> Member | None:
    """The member that learns what regressors leave of the targets of a single output."""
    data = judged.data
    found = cross_fitted(
        regressors,
        np.asarray(data.x),
        judged.targets[0],
        None if data.weights is None else np.asarray(data.weights),
        seed=int(generator(key).integers(2**31)),
        is_over=is_over,
    )
    if found is None:
        return None
    prior, posterior = solve(_rest_of(problem, judged, found))
    function, left = Shifted(posterior.function, found.mean), judged.targets - found.values
    options = {"added": found.values, "key": folded(key, 1), "is_over": is_over}
    return judged.member(function, prior, left, **options)


def _rest_of(problem: Problem, judged: _Judged, found: CrossFitted) -> Problem:
    """The problem of what the regressors leave of the targets."""
    x = np.asarray(problem.rows.x, np.float64)
    predicted = mean_in_numpy(found.mean, x)[0]
    predicted[problem.trained] = found.values
    left = judged.all_targets[0] - predicted
    rows = Data(problem.rows.x, left, problem.rows.weights)
    likelihood = AdaptiveNormal(np.full(1, START_NOISE * (np.std(left) or 1.0)), Unwarped())
    return dataclasses.replace(problem, rows=rows, likelihood=likelihood)
