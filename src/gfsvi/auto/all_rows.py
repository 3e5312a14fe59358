"""The posterior after the rows that were held out to judge it."""

from typing import cast

from jaxtyping import PRNGKeyArray

from gfsvi.auto.members import mixture
from gfsvi.auto.problem import Problem
from gfsvi.auto.seasons import with_future
from gfsvi.functions.mixed import Mixed
from gfsvi.inference.updates import Updated, condition_on
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model


def with_all_rows(
    method: AbstractMethod, prior: Model, posterior: Model, problem: Problem, *, key: PRNGKeyArray
) -> Model | None:
    """The posterior given all rows, under the same prior and around the same weights.

    Latest rows become measurement points, so the closed form is computed again with them; rows that
    have chosen the noise are learned last, so that it is never chosen by rows that the network has
    seen.

    Args:
        method: The method, without measurement points in the future.
        prior: The model before the data.
        posterior: The posterior without the held-out rows.
        problem: All rows, and which of them were held out.
        key: The key of the first fit.

    Returns:
        The posterior, or None if no rows were held out or the posterior is not in closed form.
    """
    function, validation = posterior.function, problem.validation
    if not isinstance(function, Updated) or len(problem.apart.all) == 0:
        return None
    if problem.apart.validates_apart and isinstance(function, Mixed):
        parts = (Model(member, posterior.likelihood) for member in function.members)
        found = [with_all_rows(method, prior, part, problem, key=key) for part in parts]
        known = [one for one in found if one is not None]
        return mixture(known[0], known[1:]) if known else None
    if problem.apart.validates_apart:
        data = problem.without(problem.apart.validation)
        method = cast(GFSVI, with_future(method, prior.function, data.x, problem.features))
        posterior = method(prior, data, key=key, validation=validation, start=posterior).posterior
    return posterior if validation is None else condition_on(posterior, validation)
