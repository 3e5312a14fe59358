"""Whether the network can express the prior."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.examined import Examined

# A direction is within reach if the network, scaled to the prior's average variance, varies
# there with a hundredth of the prior's standard deviation.
REACH = 1e-4
# Measured on a sine: 0.0002 for Matern 5/2, 0.03 for Matern 1/2 whose residual roughness no
# smooth network has; 0.5 for a network of two units.
MAX_OUT_OF_REACH = 0.1
# What a posterior in closed form does, see `gfsvi.inference.conjugate`.
_INTERPOLATED = "so the prior takes its place between measurement points"


def cannot_express_prior(examined: Examined) -> Diagnostic | None:
    """Whether no small change of the weights produces much of the prior's variance."""
    if examined.tangents is None:
        return None
    prior, network = examined.tangents
    return expressiveness(network, prior, computed=examined.is_computed)


def expressiveness(network: np.ndarray, prior: np.ndarray, *, computed: bool) -> Diagnostic | None:
    """What to know if a network cannot follow a prior.

    Args:
        network: The network's covariance at some points, on any scale.
        prior: The prior's covariance there.
        computed: Whether the posterior is computed in closed form.
    """
    missing = out_of_reach(network, prior)
    if not missing > MAX_OUT_OF_REACH:
        return None
    effect = _INTERPOLATED if computed else "so its uncertainty will be too small there"
    return Diagnostic(
        "network_cannot_express_prior",
        "note" if computed else "warning",
        "The network cannot express this prior",
        f"Functions drawn from the prior vary in ways that this network cannot follow, {effect}: "
        f"{share(missing)} of the prior's variance is out of its reach, and it varies in "
        f"{_directions(network)} independent directions at {len(prior)} points where the prior "
        f"has {_needed(prior)}.",
        "Use a wider network (hidden), a smoother kernel or a longer length scale.",
    )


def out_of_reach(network: np.ndarray, prior: np.ndarray) -> float:
    """Share of the prior's variance that ridge regression on the network's covariance misses."""
    values, vectors = np.linalg.eigh(_scaled_to(network, prior))
    wanted = np.einsum("ij,ik,kj->j", vectors, prior, vectors, optimize=True)
    ridge = REACH * np.mean(np.diagonal(prior))
    # Of f, drawn from the prior, r (T + r)^{-1} f is missed.
    left = (ridge / (np.maximum(values, 0) + ridge)) ** 2
    return float(np.sum(left * wanted) / np.trace(prior))


def _scaled_to(network: np.ndarray, prior: np.ndarray) -> np.ndarray:
    size = np.trace(network)
    return network * (np.trace(prior) / size) if size > 0 else network


def _directions(network: np.ndarray) -> int:
    """How many independent directions have more than a negligible share of the variance."""
    values = np.linalg.eigvalsh(network)
    return int(np.sum(values > REACH * np.mean(np.diagonal(network))))


def _needed(prior: np.ndarray) -> int:
    """How many directions hold 99 % of the prior's variance."""
    values = np.linalg.eigvalsh(prior)[::-1]
    return int(np.searchsorted(np.cumsum(values), 0.99 * np.sum(values))) + 1
