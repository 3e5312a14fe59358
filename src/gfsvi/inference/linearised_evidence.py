"""How probable rows are under a linearised network, for choosing among priors after training."""

from functools import partial

from gfsvi.data import Data
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.conjugate import Interpolation, solved, sums_over
from gfsvi.inference.evidence import targets_of
from gfsvi.model import Model
from gfsvi.numerics.precision import double

GAMMA = 1e-10
"""The regulariser, as that of `GFSVI`."""


@double
def linearised_evidence(posterior: Model, prior: Model, data: Data) -> float:
    """The log evidence of a trained network, linearised at its weights, under a prior.

    Kernels, prior scales and noise can be compared by it without training again: of several, the
    one with the largest evidence says best what the rows are. Where the rows are measurement
    points, it is the evidence of the exact process.

    Args:
        posterior: A posterior in closed form, for its network and its measurement points.
        prior: A Gaussian-process prior, with a likelihood that is normal on some scale.
        data: The rows that the posterior was fitted to.
    """
    function = posterior.function
    if not isinstance(function, ConjugateNetwork) or not isinstance(
        prior.function, GaussianProcess
    ):
        raise ValueError(
            "linearised_evidence expects a posterior in closed form and a Gaussian-process prior; "
            f"got {type(function).__name__} and {type(prior.function).__name__}. Fit with GFSVI()."
        )
    if not prior.likelihood.solved_as_normal:
        raise ValueError(
            "linearised_evidence expects a likelihood that is normal on some scale; got "
            f"{type(prior.likelihood).__name__}, whose evidence has no closed form."
        )
    at = Interpolation.at(function.tangents, prior.function, function.points, gamma=GAMMA)
    return solved(at, sums_over(at, data, partial(targets_of, prior))).log_evidence
