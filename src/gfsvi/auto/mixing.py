"""Several posteriors of one function, trusted as far as rows that they have not seen say."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.mixed import Mixed, mixed_moments
from gfsvi.model import Model
from gfsvi.values import Independent

WEIGHTS = tuple(np.linspace(0, 1, 11))
"""Of the second member, among which the best is chosen."""


class Member(NamedTuple):
    """A posterior of the function, and its mean and variance at rows that it has not seen."""

    function: AbstractRandomFunction
    unseen: Independent


class Combined(NamedTuple):
    """A posterior, and the function at training rows without what they taught, if that is known."""

    posterior: Model
    unseen: Independent | None


def mixed(members: Sequence[Member], log_density: Callable[[Independent], float]) -> Member:
    """One member, or two with the weights under which rows are most probable.

    Args:
        members: One or two posteriors.
        log_density: The log density of the rows, where the function has these values.
    """
    if len(members) == 1:
        return members[0]
    values = [member.unseen for member in members]

    def of_weight(weight: float) -> float:
        return log_density(mixed_moments(values, np.array([1 - weight, weight])))

    best = max(WEIGHTS, key=of_weight)
    if best in (0.0, 1.0):
        return members[int(best)]
    weights = np.array([1 - best, best])
    function = Mixed(tuple(member.function for member in members), weights)
    return Member(function, mixed_moments(values, weights))
