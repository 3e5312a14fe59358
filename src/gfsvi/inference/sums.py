"""Sums over rows of a log-likelihood, written once, with the weights of the rows."""

from jaxtyping import Array, Float

from gfsvi.data import Data
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.predictives.base import FunctionValues


def total_log_prob(
    likelihood: AbstractLikelihood, data: Data, f: FunctionValues
) -> Float[Array, ""]:
    """log p(y | f) of all rows together, given the function's values there."""
    return data.total(likelihood.log_prob(data.y, f))
