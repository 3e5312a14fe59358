"""Whether the network can be what the prior asks for."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.fitted import Fitted

# Directions are within reach if the network, as variable as the prior on average, varies there
# with a hundredth of the prior's standard deviation.
REACH = 1e-4
# Measured on a sine: 0.0002 for Matern 5/2, 0.03 for Matern 1/2 whose residual roughness no
# smooth network has; 0.5 for a network of two units.
MAX_OUT_OF_REACH = 0.1


def cannot_express_prior(fitted: Fitted) -> Diagnostic | None:
    """The share of the prior's variance that no small change of the weights produces."""
    if fitted.tangents is None:
        return None
    prior, before, after = fitted.tangents
    missing = out_of_reach(after, prior)
    if not missing > MAX_OUT_OF_REACH:
        return None
    earlier = "" if before is None else f" ({share(out_of_reach(before, prior))} before training)"
    return Diagnostic(
        "network_cannot_express_prior",
        "warning",
        "The network cannot express this prior",
        f"Functions as the prior expects them vary in ways that this network cannot follow, so its "
        f"uncertainty will be too small there: {share(missing)} of the prior's variance is out of "
        f"its reach{earlier}, and it moves in {_directions(after)} independent directions at "
        f"{len(prior)} points where the prior has {_needed(prior)}.",
        "Use a wider network (hidden), or a smoother kernel or a longer length scale.",
    )


def out_of_reach(network: np.ndarray, prior: np.ndarray) -> float:
    """Share of the prior's variance that ridge regression on the network's covariance leaves."""
    values, vectors = np.linalg.eigh(_scaled_to(network, prior))
    wanted = np.einsum("ij,ik,kj->j", vectors, prior, vectors, optimize=True)
    ridge = REACH * np.mean(np.diagonal(prior))
    # A function f loses r (T + r)^{-1} f, for f drawn from the prior.
    left = (ridge / (np.maximum(values, 0) + ridge)) ** 2
    return float(np.sum(left * wanted) / np.trace(prior))


def _scaled_to(network: np.ndarray, prior: np.ndarray) -> np.ndarray:
    size = np.trace(network)
    return network * (np.trace(prior) / size) if size > 0 else network


def _directions(network: np.ndarray) -> int:
    """Independent directions with more than a negligible share of the average variance."""
    values = np.linalg.eigvalsh(network)
    return int(np.sum(values > REACH * np.mean(np.diagonal(network))))


def _needed(prior: np.ndarray) -> int:
    """How many directions hold 99 % of the prior's variance."""
    values = np.linalg.eigvalsh(prior)[::-1]
    return int(np.searchsorted(np.cumsum(values), 0.99 * np.sum(values))) + 1
