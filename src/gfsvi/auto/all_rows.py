"""The posterior after the rows that were held out to judge it."""

from typing import cast

from jaxtyping import PRNGKeyArray

from gfsvi.auto.problem import Problem
from gfsvi.auto.seasons import with_future
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.updates import condition_on
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
    if not isinstance(posterior.function, ConjugateNetwork) or len(problem.apart.all) == 0:
        return None
    validation = problem.validation
    if problem.apart.validates_apart:
        data = problem.without(problem.apart.validation)
        method = cast(GFSVI, with_future(method, prior.function, data.x, problem.features))
        posterior = method(prior, data, key=key, validation=validation, start=posterior).posterior
    return posterior if validation is None else condition_on(posterior, validation)
