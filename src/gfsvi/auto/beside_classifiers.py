"""Labels: a network that also sees the scores of boosted trees, beside one that does not."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable
from typing import cast

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.auto.mixing import Combined, Member, mixed
from gfsvi.auto.problem import Problem, Solve
from gfsvi.auto.units import Feature
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction
from gfsvi.functions.beside import Beside, beside
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.model import Model, predictive_of
from gfsvi.numerics.precision import double
from gfsvi.numerics.randomness import generator
from gfsvi.prior_means.classifiers import CrossFittedScores, cross_fitted_scores
from gfsvi.values import Independent

MOST_CLASSES, MOST_SCORES = 12, 20_000
"""Classes, and rows times classes, for which a second fit takes seconds."""


def most_classes(num_rows: int) -> int:
    """The number of classes up to which trees are considered."""
    return min(MOST_CLASSES, MOST_SCORES // max(1, num_rows))


def beside_trees(
    problem: Problem,
    posterior: Model[AbstractRandomFunction, Categorical],
    *,
    key: PRNGKeyArray,
    solve: Solve,
    is_over: Callable[[], bool],
) -> Combined:
    """The posterior, joined by one that sees the scores of trees where unseen labels say so.

    Args:
        problem: The rows.
        posterior: The posterior without trees.
        key: Determines folds.
        solve: How the second member is fitted.
        is_over: Asked whether the time is over.
    """
    data = problem.data
    found = cross_fitted_scores(
        np.asarray(data.x),
        np.asarray(data.y),
        problem.num_outputs,
        None if data.weights is None else np.asarray(data.weights),
        seed=int(generator(key).integers(2**31)),
        is_over=is_over,
    )
    if found is None:
        return Combined(posterior, None)
    seen = _with_scores(problem, found)
    _, second = solve(seen)
    members = [
        _member(posterior, posterior.function, problem),
        _member(second, Beside(second.function, found.columns), seen),
    ]
    known = [member for member in members if member is not None]
    if len(known) < len(members):
        return Combined(posterior, None)
    judged = problem.data if problem.validation is None else problem.validation
    best = mixed(known, lambda values: _log_density(posterior.likelihood, values, judged))
    unseen = best.unseen if problem.validation is None else None
    return Combined(Model(best.function, posterior.likelihood), unseen)


def _with_scores(problem: Problem, found: CrossFittedScores) -> Problem:
    """The problem whose rows have scores of trees that have not seen them."""
    x = beside(np.asarray(problem.rows.x, np.float64), found.columns)
    x[problem.trained, -len(found.columns) :] = found.values
    rows = Data(x, problem.rows.y, problem.rows.weights)
    names = tuple(
        Feature(f"trees {number}", f"trees {number}", 1.0)
        for number in range(1, len(found.columns) + 1)
    )
    return dataclasses.replace(problem, rows=rows, features=(*problem.features, *names))


def _member(model: Model, function: AbstractRandomFunction, problem: Problem) -> Member | None:
    """A posterior with its values at held-out rows, or at training rows that are left out."""
    if problem.validation is None:
        values = leave_one_out(model, problem.data)
    else:
        numpy_function = cast(NumpyFunction, model.function)
        values = numpy_function.marginals_in_numpy(np.asarray(problem.validation.x, np.float64))
    return None if values is None else Member(function, values)


@double
def _log_density(likelihood: Categorical, values: Independent, data: Data) -> float:
    predictive = predictive_of(likelihood, values, key=jax.random.key(0))
    found = np.asarray(predictive.log_prob(np.asarray(data.y)))
    return float(np.average(found, weights=np.asarray(data.row_weights)))
