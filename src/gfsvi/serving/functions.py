"""Random functions of a model file: the closed-form posterior of a network, and novelty."""

import math
from typing import NamedTuple, Protocol

import numpy as np

from gfsvi.plain.mixtures import mixture_moments
from gfsvi.plain.networks import TanhNetwork
from gfsvi.plain.posterior import ConjugatePosterior, novelty
from gfsvi.plain.trees import Trees
from gfsvi.serving.kernels import kernel_of
from gfsvi.serving.parts import NotServed, Part


class Posterior(Protocol):
    """A random function that is known by its moments."""

    def marginals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances at rows, (output, row)."""
        ...


class _Shifted(NamedTuple):
    """`functions.Shifted` around trees."""

    rest: Posterior
    trees: Trees

    def marginals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self.rest.marginals(x)
        return mean + self.trees(x), variance


class _Mixed(NamedTuple):
    """`functions.Mixed`."""

    members: tuple[Posterior, ...]
    weights: np.ndarray

    def marginals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        means, variances = zip(*(member.marginals(x) for member in self.members), strict=True)
        return mixture_moments(np.stack(means), np.stack(variances), self.weights)


def posterior_of(part: Part, num_features: int) -> Posterior:
    """The posterior of so many features that a part describes."""
    part.expect("function:conjugate_network", "function:shifted", "function:mixed")
    if part.tag == "function:mixed":
        members = tuple(posterior_of(member, num_features) for member in part.members)
        return _Mixed(members, np.asarray(part.weights, np.float64))
    if part.tag == "function:shifted":
        rest = posterior_of(part.function, num_features)
        return _Shifted(rest, _trees_of(part.mean, num_features))
    return _network_posterior_of(part)


def _trees_of(part: Part, num_features: int) -> Trees:
    part.expect("mean:trees")
    nodes = (part.feature, part.threshold, part.left, part.right, part.value, part.roots)
    trees = Trees(*nodes, int(part.depth), float(part.base))
    trees.check(num_features)
    return trees


def _network_posterior_of(part: Part) -> ConjugatePosterior:
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
        float(vars(part).get("near", 1.0)),  # which older files lack
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
