"""Whether gamma, which keeps the divergence finite, is neither too large nor too small."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic
from gfsvi.diagnostics.examined import Comparison, Examined, Square
from gfsvi.diagnostics.noise import mean_noise

# Roughness below this share of the prior's variance (a tenth of its std) is acceptable.
MAX_ADDED = 1e-2
# If the noise is smaller still, intervals miss roughness as large as the noise.
MIN_RELEVANT = 1e-6


def gamma_too_large(examined: Examined) -> Diagnostic | None:
    """Whether what gamma adds to every variance hides the prior."""
    comparison, noise = examined.comparison, mean_noise(examined.run.posterior.likelihood)
    variance = float(np.mean(np.diagonal(examined.prior_cov_measured)))
    limit = MAX_ADDED * variance
    if noise is not None:
        limit = min(limit, max(noise**2, MIN_RELEVANT * variance))
    if comparison is None or not comparison.added > limit:
        return None
    values = np.linalg.eigvalsh(examined.prior_cov_measured)
    hidden = int(np.sum(values < comparison.added))
    return Diagnostic(
        "gamma_too_large",
        "warning",
        "gamma is so large that the prior has little effect",
        f"Functions may be rougher than the prior says at no cost: gamma = "
        f"{comparison.gamma:.3g} at {comparison.num_points} points allows variations of "
        f"standard deviation {np.sqrt(comparison.added):.2g} where the prior has "
        f"{np.sqrt(variance):.2g}, and hides {hidden} of the prior's {len(values)} directions.",
        f"Lower gamma to {_round_down(limit / comparison.num_points / 100):.0e} or less.",
    )


def gamma_too_small(examined: Examined) -> Diagnostic | None:
    """Whether what gamma adds is lost to rounding errors."""
    comparison = examined.comparison
    if comparison is None:
        return None
    least = smallest_gamma(examined.prior_cov_measured, comparison)
    pivots = examined.run.history.steps.get("smallest_pivot", np.full(1, np.inf))
    pivot = float(np.min(pivots, initial=comparison.smallest_pivot))
    # In exact arithmetic no pivot is smaller than what gamma adds.
    if comparison.gamma >= least and pivot >= 0.5 * comparison.added:
        return None
    return Diagnostic(
        "gamma_too_small",
        "warning",
        "gamma is lost to rounding errors",
        f"Rounding errors decide the divergence: gamma = {comparison.gamma:.3g} at "
        f"{comparison.num_points} points should keep every pivot above {comparison.added:.2g}; the "
        f"smallest was {pivot:.2g}, and precision suffices for gamma above {least:.2g}.",
        f"Raise gamma to {_round_up(100 * max(least, np.finfo(float).eps)):.0e} or more"
        + ("." if comparison.network_eps < 1e-10 else ", or use dtype=jnp.float64."),
    )


def smallest_gamma(cov: Square, comparison: Comparison) -> float:
    """The gamma below which rounding of the Gram matrix or of the Jacobian is larger."""
    largest = float(np.linalg.eigvalsh(cov)[-1])
    of_gram = np.finfo(np.float64).eps * largest / len(cov)
    of_network = comparison.network_eps**2 * float(np.mean(np.diagonal(cov)))
    return max(of_gram, of_network)


def _round_down(value: float) -> float:
    return 10.0 ** np.floor(np.log10(value))


def _round_up(value: float) -> float:
    return 10.0 ** np.ceil(np.log10(value))
