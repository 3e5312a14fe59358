"""Whether probabilities are as large as the shares of rows that they speak of."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from gfsvi.auto.coverage import are_inside
from gfsvi.auto.fitted import Fitted
from gfsvi.numerics.extras import check_extra
from gfsvi.plots.priors import BAND, LINES
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = np.linspace(0.05, 0.95, 19)
NUM_BINS = 10


def plot_calibration(
    model: Fitted | Any, X: ArrayLike | Any, y: ArrayLike, *, axes: "Axes | None" = None
) -> "Axes":
    """Draw observed against promised shares, on rows that the model has not seen.

    Args:
        model: A fitted estimator, or a `Fitted`.
        X: Rows: a table or an array.
        y: Their targets or labels.
        axes: Where to draw; None for a new figure.

    Returns:
        The axes. Of numbers, the share of rows inside central intervals of each level, one line
        per target; of labels, the accuracy of rows of similar confidence. The band around the
        diagonal is where right probabilities would be, within two standard errors.
    """
    check_extra("plots", "plot_calibration")
    import matplotlib.pyplot as plt

    fitted: Fitted = getattr(model, "fitted_", model)
    predictive, observed = fitted.predict(X), np.asarray(y)
    axes = plt.subplots()[1] if axes is None else axes
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="right")
    if isinstance(predictive, CategoricalPredictive):
        _draw_labels(axes, predictive, np.asarray(fitted.target.numbers(observed)))
    else:
        _draw_numbers(axes, cast(AbstractRealPredictive, predictive), observed)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.legend(frameon=False, loc="upper left")
    return axes


def _draw_numbers(axes: "Axes", predictive: AbstractRealPredictive, y: np.ndarray) -> None:
    shares = are_inside(predictive, y, LEVELS).mean(axis=1)  # (level, output)
    error = 2 * np.sqrt(LEVELS * (1 - LEVELS) / len(y))
    axes.fill_between(LEVELS, LEVELS - error, LEVELS + error, color=BAND, alpha=0.15, linewidth=0)
    for number, share in enumerate(shares.T):
        name = "this model" if shares.shape[1] == 1 else f"target {number + 1}"
        axes.plot(LEVELS, share, "o-", ms=3.5, label=name)
    axes.set(xlabel="level of the interval", ylabel="share of rows inside")


def _draw_labels(axes: "Axes", predictive: CategoricalPredictive, numbers: np.ndarray) -> None:
    probabilities = np.asarray(predictive.probabilities)
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == numbers
    places = np.minimum((confidence * NUM_BINS).astype(int), NUM_BINS - 1)
    counts = np.bincount(places, minlength=NUM_BINS)
    filled = counts > 0
    mean, share = (
        np.bincount(places, part, NUM_BINS)[filled] / counts[filled] for part in (confidence, right)
    )
    error = 2 * np.sqrt(mean * (1 - mean) / counts[filled])
    axes.errorbar(mean, share, error, fmt="o-", ms=4, color=LINES, capsize=2, label="this model")
    axes.set(xlabel="confidence", ylabel="accuracy")
