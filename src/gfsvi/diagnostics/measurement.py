"""Whether the measurement points are enough for this kernel."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.fitted import Fitted

# Where the points leave this much of the prior's variance open at the data, fitting the rows
# costs the divergence nothing and the fit follows the noise.
MAX_UNSEEN = 0.5
# A divergence that changes by a third with the points pulls the fit about at random.
MAX_SPREAD = 1 / 3
# Steps of training that the spread is taken from: late ones, where the weights hardly move.
SPREAD_STEPS = 50


def too_few_points(fitted: Fitted) -> Diagnostic | None:
    """How much of the prior's variance at the data the measurement points leave open."""
    unseen = unseen_share(fitted)
    if not unseen > MAX_UNSEEN:
        return None
    return Diagnostic(
        "too_few_points",
        "warning",
        "Too few measurement points for this kernel",
        f"The prior is enforced at the measurement points and hardly anywhere else: knowing the "
        f"function at all {fitted.num_points} of them leaves {share(unseen)} of the prior's "
        f"variance at the {len(fitted.run.data)} rows open, so the fit is free to follow noise.",
        _REMEDY,
    )


def unsteady_divergence(fitted: Fitted) -> Diagnostic | None:
    """How much the divergence changes from one draw of the points to the next."""
    spread = divergence_spread(fitted)
    if not spread > MAX_SPREAD:
        return None
    return Diagnostic(
        "unsteady_divergence",
        "warning",
        "The distance to the prior is hardly known",
        f"How far the fit is from the prior depends on where one looks: from one draw of "
        f"{fitted.num_points} measurement points to the next the divergence changed by "
        f"{share(spread)} of its mean (standard deviation, end of training).",
        _REMEDY,
    )


_REMEDY = (
    "Take more measurement points (num_points), have the training inputs among them, "
    "or use a smoother kernel."
)


def unseen_share(fitted: Fitted) -> float:
    """Mean over rows of Var[f(x) | f at the points] / Var[f(x)] under the prior."""
    count = fitted.num_measured
    cov, cross = fitted.prior_cov_measured, fitted.prior_cov[:count, count:]
    variance = np.diagonal(fitted.prior_cov)[count:]
    values, vectors = np.linalg.eigh(cov)
    # Rounding leaves eigenvalues of about 1e-16 of the largest, which carry no information.
    floor = fitted.added + 1e-12 * values[-1]
    explained = np.sum((vectors.T @ cross) ** 2 / (np.maximum(values, 0) + floor)[:, None], axis=0)
    known = variance > 0
    return float(np.mean(1 - (explained[known] / variance[known]))) if known.any() else 0.0


def divergence_spread(fitted: Fitted) -> float:
    """Standard deviation from step to step over the mean; slow drift cancels in differences."""
    history = fitted.run.history
    steps = history.steps.get("divergence", np.zeros(0))[: history.best_step][-SPREAD_STEPS:]
    if len(steps) < 10:
        return 0.0
    return float(np.std(np.diff(steps)) / np.sqrt(2) / max(np.mean(steps), 1e-12))
