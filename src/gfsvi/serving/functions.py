"""Random functions of a model file: the closed-form posterior of a network, and novelty."""

import math

import numpy as np

from gfsvi.plain.networks import TanhNetwork
from gfsvi.plain.posterior import ConjugatePosterior, novelty
from gfsvi.serving.kernels import kernel_of
from gfsvi.serving.parts import NotServed, Part


def posterior_of(part: Part) -> ConjugatePosterior:
    """The posterior that a part describes."""
    part.expect("function:conjugate_network")
    prior = part.prior.expect("function:gaussian_process")
    network, variances = _network_of(part.tangents)
    return ConjugatePosterior(
        network,
        variances,
        kernel_of(prior.kernel),
        part.points,
        part.shift,
        part.root,
        part.eps,
        part.whitener,
    )


class Novelty:
    """`auto.novelty.Novelty`: what training rows leave open, and more beyond their range."""

    def __init__(self, part: Part):
        process = part.expect("novelty:novelty").process.expect("function:conditioned_process")
        prior = process.prior.expect("function:gaussian_process")
        self._kernel = kernel_of(prior.kernel)
        self._x, self._factor = process.x, process.factor[0]

    def at(self, x: np.ndarray) -> np.ndarray:
        """Novelty of each row."""
        return novelty(self._kernel, self._x, self._factor, x)


def _network_of(part: Part) -> tuple[TanhNetwork, tuple[float, ...]]:
    """The network that a part with its tangents describes, and the variance of each layer."""
    network = part.expect("function:tangents").network.expect("network:mlp")
    if network.activation != "tanh":
        raise NotServed(f"the activation {network.activation}")
    matrices = tuple(np.asarray(matrix, np.float64) for matrix in part.params)
    return TanhNetwork(matrices), tuple(math.exp(2 * float(scale)) for scale in part.log_scales)
