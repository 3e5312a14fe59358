"""Whether there are enough measurement points for this kernel."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.examined import Examined

# If the points leave this share of the prior's variance at the data undetermined, fitting the
# rows costs no divergence and the fit follows the noise.
MAX_UNSEEN = 0.5
# A divergence that changes by a third with the points moves the fit at random.
MAX_SPREAD = 1 / 3
# The last steps of training, where the weights hardly move, show the spread.
SPREAD_STEPS = 50


def too_few_points(examined: Examined) -> Diagnostic | None:
    """Whether the measurement points leave much of the prior's variance undetermined."""
    comparison, unseen = examined.comparison, unseen_share(examined)
    if comparison is None or not unseen > MAX_UNSEEN:
        return None
    return _warning(
        "too_few_points",
        "Too few measurement points for this kernel",
        f"The prior is enforced at the measurement points and hardly anywhere else: knowing the "
        f"function at all {comparison.num_points} of them leaves {share(unseen)} of the prior's "
        f"variance at the {len(examined.run.data)} rows undetermined, so the fit can follow noise.",
    )


def unsteady_divergence(examined: Examined) -> Diagnostic | None:
    """Whether the divergence changes from one draw of the points to the next."""
    spread = divergence_spread(examined)
    if examined.comparison is None or not spread > MAX_SPREAD:
        return None
    return _warning(
        "unsteady_divergence",
        "The distance to the prior is uncertain",
        f"How far the fit is from the prior depends on where it is measured: from one draw of "
        f"{examined.comparison.num_points} measurement points to the next the divergence changed "
        f"by {share(spread)} of its mean (standard deviation, end of training).",
    )


def _warning(name: str, title: str, message: str) -> Diagnostic:
    remedy = (
        "Use more measurement points (num_points), include the training inputs among them, "
        "or choose a smoother kernel."
    )
    return Diagnostic(name, "warning", title, message, remedy)


def unseen_share(examined: Examined) -> float:
    """Mean over rows of Var[f(x) | f at the points] / Var[f(x)] under the prior."""
    count = examined.num_measured
    cov, cross = examined.prior_cov_measured, examined.prior_cov[:count, count:]
    variance = np.diagonal(examined.prior_cov)[count:]
    values, vectors = np.linalg.eigh(cov)
    # Rounding leaves eigenvalues of about 1e-16 of the largest, which carry no information.
    added = 0.0 if examined.comparison is None else examined.comparison.added
    floor = added + 1e-12 * values[-1]
    explained = np.sum((vectors.T @ cross) ** 2 / (np.maximum(values, 0) + floor)[:, None], axis=0)
    known = variance > 0
    return float(np.mean(1 - (explained[known] / variance[known]))) if known.any() else 0.0


def divergence_spread(examined: Examined) -> float:
    """Standard deviation from step to step over the mean; slow drift cancels in differences."""
    history = examined.run.history
    steps = history.steps.get("divergence", np.zeros(0))[: history.best_step][-SPREAD_STEPS:]
    if len(steps) < 10:
        return 0.0
    return float(np.std(np.diff(steps)) / np.sqrt(2) / max(np.mean(steps), 1e-12))
