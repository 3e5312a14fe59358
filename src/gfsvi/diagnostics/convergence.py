"""Whether training went on for long enough."""

import numpy as np

from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.examined import Examined
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.mean_fit import TrainedMean
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.networks.in_numpy import is_in_numpy
from gfsvi.training.history import History
from gfsvi.training.settings import Training

# A gain of a few hundredths of a nat per row is noticeable when models are compared.
MIN_GAIN = 0.03
# The share of training, at its end, over which the gain is taken.
LAST_SHARE = 0.2
# Random scatter of the objective stays within this many standard errors of the difference.
MIN_ERRORS = 3.0


def still_improving(examined: Examined) -> Diagnostic | None:
    """Whether the score was still rising when training ended."""
    history = examined.run.history
    validated = len(history.scores) > 0
    if examined.is_computed and not validated:
        return None  # the closed form makes up for steps that are missing
    gain = score_gain(history) if validated else objective_gain(history)
    if not gain > MIN_GAIN:
        return None
    what = "validation score" if validated else "objective"
    steps = len(history.steps["objective"])
    training = planned_training(examined.run.method)
    wanted = steps if training is None else training.for_rows(len(examined.run.data)).num_steps
    stopped = f"all {steps} steps" if steps >= wanted else f"{steps} of {wanted} steps"
    return Diagnostic(
        "still_improving",
        # The objective may rise by approaching the prior, which no row would show.
        "warning" if validated else "note",
        "Training stopped while it was still improving",
        f"A longer training would probably predict better: in the last {share(LAST_SHARE)} of "
        f"training the {what} rose by {gain:.2g} nats per row, and it ended after {stopped}.",
        "Raise num_steps, or the time budget where one was set.",
    )


def planned_training(method: AbstractMethod) -> Training | None:
    """The training that the history is of: that of the mean if the covariance is computed."""
    if not isinstance(method, GFSVI) or not isinstance(method.covariance, ClosedForm):
        return getattr(method, "training", None)
    if isinstance(method.mean, AutoMean) and is_in_numpy(method.network):
        return None  # which of its fits was used depends on kernel and likelihood
    mean = method.mean.otherwise if isinstance(method.mean, AutoMean) else method.mean
    return mean.training if isinstance(mean, TrainedMean) else None


def score_gain(history: History) -> float:
    """How much the best score rose over the last part if it was reached at the end; else 0."""
    scores, steps = np.asarray(history.scores), np.asarray(history.score_steps)
    if len(scores) < 3 or int(np.argmax(scores)) < len(scores) - 2:
        return 0.0
    earlier = scores[steps <= (1 - LAST_SHARE) * steps[-1]]
    return float(np.max(scores) - np.max(earlier)) if len(earlier) else 0.0


def objective_gain(history: History) -> float:
    """How much the objective rose within the last part if beyond its scatter; else 0."""
    objective = np.asarray(history.steps.get("objective", np.zeros(0)))
    size = int(LAST_SHARE * len(objective) / 2)
    if size < 2:
        return 0.0
    late, earlier = objective[-size:], objective[-2 * size : -size]
    gain = float(np.mean(late) - np.mean(earlier))
    # Differences from step to step show the scatter without the trend.
    error = np.std(np.diff(objective[-2 * size :])) / np.sqrt(size)
    return gain if gain > MIN_ERRORS * error else 0.0
