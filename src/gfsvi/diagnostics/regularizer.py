"""Whether gamma, which keeps the divergence finite, stays out of the way."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic
from gfsvi.diagnostics.fitted import Fitted

# Roughness below this share of the prior's variance (a tenth of its standard deviation) may pass.
MAX_ADDED = 1e-2
# Where noise is smaller still, roughness as large as the noise is what intervals then miss.
MIN_RELEVANT = 1e-6


def gamma_too_large(fitted: Fitted) -> Diagnostic | None:
    """Whether what gamma adds to every variance hides the prior."""
    variance = float(np.mean(np.diagonal(fitted.prior_cov_measured)))
    limit = MAX_ADDED * variance
    if fitted.observations is not None:
        noise = float(np.mean(fitted.observations.noise_variance))
        limit = min(limit, max(noise, MIN_RELEVANT * variance))
    if not fitted.added > limit:
        return None
    values = np.linalg.eigvalsh(fitted.prior_cov_measured)
    hidden = int(np.sum(values < fitted.added))
    return Diagnostic(
        "gamma_too_large",
        "warning",
        "gamma is so large that the prior fades",
        f"Functions may be rougher than the prior says without any cost: gamma = "
        f"{fitted.run.method.gamma:.3g} at {fitted.num_points} points forgives variations of "
        f"standard deviation {np.sqrt(fitted.added):.2g} where the prior has "
        f"{np.sqrt(variance):.2g}, and hides {hidden} of the prior's {len(values)} directions.",
        f"Lower gamma to {_round_down(limit / fitted.num_points / 100):.0e} or less.",
    )


def gamma_too_small(fitted: Fitted) -> Diagnostic | None:
    """Whether what gamma adds is lost in rounding."""
    least = smallest_gamma(fitted)
    pivots = fitted.run.history.steps.get("smallest_pivot", np.full(1, np.inf))
    pivot = float(np.min(pivots, initial=np.inf))
    # In exact arithmetic no pivot is smaller than what gamma adds.
    if fitted.run.method.gamma >= least and pivot >= 0.5 * fitted.added:
        return None
    return Diagnostic(
        "gamma_too_small",
        "warning",
        "gamma is so small that numbers suffer",
        f"The divergence is decided by rounding errors: gamma = {fitted.run.method.gamma:.3g} at "
        f"{fitted.num_points} points should keep every pivot above {fitted.added:.2g}; the "
        f"smallest was {pivot:.2g}, and precision suffices for gamma above {least:.2g}.",
        f"Raise gamma to {_round_up(100 * max(least, np.finfo(float).eps)):.0e} or more"
        + ("." if _network_eps(fitted) < 1e-10 else ", or use dtype=jnp.float64."),
    )


def smallest_gamma(fitted: Fitted) -> float:
    """Below this gamma, rounding of the Gram or of the network's Jacobian is larger."""
    cov = fitted.prior_cov_measured
    largest = float(np.linalg.eigvalsh(cov)[-1])
    of_gram = np.finfo(np.float64).eps * largest / len(cov)
    of_network = _network_eps(fitted) ** 2 * float(np.mean(np.diagonal(cov)))
    return max(of_gram, of_network)


def _network_eps(fitted: Fitted) -> float:
    return float(np.finfo(np.dtype(fitted.run.method.dtype)).eps)


def _round_down(value: float) -> float:
    return 10.0 ** np.floor(np.log10(value))


def _round_up(value: float) -> float:
    return 10.0 ** np.ceil(np.log10(value))
