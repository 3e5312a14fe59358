"""Weighted sums of a log-likelihood over rows."""

from jaxtyping import Array, Float

from gfsvi.data import Data
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.predictives.base import FunctionValues


def total_log_prob(
    likelihood: AbstractLikelihood, data: Data, f: FunctionValues
) -> Float[Array, ""]:
    """log p(y | f) summed over all rows, given the function's values there."""
    return data.total(likelihood.log_prob(data.y, f))
