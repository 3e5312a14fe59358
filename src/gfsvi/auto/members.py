"""A posterior that is judged by rows it has not seen, and joined by one that builds on trees."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.auto.around_regressors import around_regressors
from gfsvi.auto.beside_classifiers import beside_trees, most_classes
from gfsvi.auto.mixing import Combined
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.phases import FOLDS
from gfsvi.auto.problem import Problem, Solve
from gfsvi.auto.unseen_rows import UnseenValues
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.mixed import Mixed
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.model import Model
from gfsvi.numerics.clock import Clock
from gfsvi.numerics.precision import to_numpy
from gfsvi.prior_means import default_trees

FEWEST_ROWS, MOST_FEATURES = 100, 400
"""For which trees are considered unless they are asked for."""
SHARE_OF_TIME = 0.35
"""Of a time budget that may be used up when a second member is begun."""
OWN = ("auto", "trees")


class Joined(NamedTuple):
    """A posterior, and what it says about training rows without what they taught, if known."""

    posterior: Model
    unseen_values: UnseenValues | None


def joined(
    problem: Problem,
    prior: Model,
    posterior: Model,
    parameters: Parameters,
    *,
    key: PRNGKeyArray,
    solve: Solve,
    clock: Clock,
    begin: Callable[[str], bool] = lambda _: False,
) -> Joined:
    """The posterior with scatter chosen by unseen rows, and with a second member if that is better.

    Args:
        problem: The rows.
        prior: The prior that was chosen.
        posterior: The posterior under it.
        parameters: What the user asks for.
        key: Determines folds.
        solve: How a second member is fitted.
        clock: The time that is left.
        begin: Told that a stage begins; True asks the fit to stop.
    """
    options = {"key": key, "solve": solve, "clock": clock, "begin": begin}
    posterior, unseen = _combined(problem, prior, posterior, parameters, **options)
    x = np.asarray(problem.data.x)
    return Joined(to_numpy(posterior), None if unseen is None else UnseenValues.of(x, unseen))


def mixture(posterior: Model, others: Sequence[Model]) -> Model:
    """Posteriors of networks that began with other weights, all trusted alike."""
    functions = tuple(model.function for model in (posterior, *others))
    weights = np.full(len(functions), 1 / len(functions))
    return Model(Mixed(functions, weights), posterior.likelihood)


def _combined(
    problem: Problem,
    prior: Model,
    posterior: Model,
    parameters: Parameters,
    *,
    key: PRNGKeyArray,
    solve: Solve,
    clock: Clock,
    begin: Callable[[str], bool],
) -> Combined:
    # The latest rows are the future of all others, which random folds do not show; and rows that
    # are not in memory cannot be divided into folds.
    is_known = isinstance(posterior.function, ConjugateNetwork | Mixed)
    is_table = problem.rows.x.ndim == 2 and problem.stream is None
    if not is_known or problem.in_time_order or not is_table:
        return Combined(posterior, None)

    def is_over() -> bool:
        return begin(FOLDS) or clock.is_over()

    if isinstance(posterior.likelihood, AdaptiveNormal):
        regressors = _regressors(problem, parameters, clock)
        only = parameters.prior_mean not in (*OWN, None)
        return around_regressors(
            problem, prior, posterior, regressors, only=only, key=key, solve=solve, is_over=is_over
        )
    if isinstance(posterior.likelihood, Categorical) and _are_wanted(problem, parameters, clock):
        return beside_trees(problem, posterior, key=key, solve=solve, is_over=is_over)
    return Combined(posterior, None)


def _regressors(problem: Problem, parameters: Parameters, clock: Clock) -> list[Any]:
    """Regressors whose average is the mean of a second prior."""
    if parameters.prior_mean not in (*OWN, None):
        return [parameters.prior_mean]
    if not _are_wanted(problem, parameters, clock):
        return []
    return default_trees(problem.data.x.shape, seed=problem.settings.seed)


def _are_wanted(problem: Problem, parameters: Parameters, clock: Clock) -> bool:
    """Whether trees are asked for, or may help: not beside a kernel that the user has chosen."""
    if parameters.prior_mean is None or problem.rows.x.ndim != 2:
        return False
    if isinstance(problem.likelihood, Categorical):
        possible = problem.num_outputs <= most_classes(len(problem.data))
    else:
        possible = problem.num_outputs == 1
    if parameters.prior_mean == "trees" or not possible:
        return possible
    rows, features = problem.data.x.shape
    is_small = rows < FEWEST_ROWS or features > MOST_FEATURES
    is_late = clock.spent > SHARE_OF_TIME * (clock.spent + clock.left)
    return parameters.kernel == "auto" and not is_small and not is_late
