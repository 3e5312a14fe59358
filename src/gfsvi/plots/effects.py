"""Predictions along columns."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from gfsvi.auto.conformal import interval_of
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import Labels
from gfsvi.numerics.extras import check_extra
from gfsvi.plots.priors import BAND, LINES
from gfsvi.plots.walks import Walk, columns_of, walk
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES, PANELS_PER_ROW = 6, 3


def plot_1d(
    model: Fitted | Any,
    X: ArrayLike | Any,
    y: ArrayLike | None = None,
    *,
    column: str | None = None,
    level: float | None = None,
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw predictions along one column, with their intervals and the rows beside them.

    Args:
        model: A fitted estimator, or a `Fitted`, of one target or of labels.
        X: Rows, such as those of the fit: a table or an array. All other columns stay at their
            medians, or their most frequent value.
        y: Targets of these rows, to be drawn as points.
        column: The column; needed if there are several.
        level: The probability of the interval; by default the one that the model promises, or
            0.95.
        axes: Where to draw; None for a new figure.

    Returns:
        The axes: the mean, the interval of an observation (light) and that of the function at
        two standard deviations (dark); for labels the probability of each class.
    """
    check_extra("plots", "plot_1d")
    import matplotlib.pyplot as plt

    fitted: Fitted = getattr(model, "fitted_", model)
    along = walk(fitted, X, _only_column(fitted) if column is None else column)
    axes = plt.subplots()[1] if axes is None else axes
    _draw(axes, fitted, along, fitted.level if level is None else level)
    if y is not None and not isinstance(fitted.target, Labels):
        axes.plot(_places(along, along.observed), np.asarray(y), ".", color="0.35", ms=4, zorder=1)
    axes.legend(frameon=False)
    return axes


def plot_effects(
    model: Fitted | Any,
    X: ArrayLike | Any,
    *,
    columns: Sequence[str] | None = None,
    level: float | None = None,
    axes: "np.ndarray | None" = None,
) -> "np.ndarray":
    """Draw predictions along several columns, one panel for each, on one scale.

    Args:
        model: A fitted estimator, or a `Fitted`, of one target or of labels.
        X: Rows, such as those of the fit: a table or an array.
        columns: The columns; by default all that the model predicts from.
        level: As in `plot_1d`.
        axes: An array of as many axes as columns; None for a new figure.

    Returns:
        An array of axes, one per column.
    """
    check_extra("plots", "plot_effects")
    fitted: Fitted = getattr(model, "fitted_", model)
    names = columns_of(fitted) if columns is None else tuple(columns)
    panels = _panels(len(names)) if axes is None else np.ravel(np.asarray(axes, object))
    if len(panels) != len(names):
        raise ValueError(f"expected {len(names)} axes, one per column; got {len(panels)}.")
    for panel, name in zip(panels, names, strict=True):
        _draw(panel, fitted, walk(fitted, X, name), fitted.level if level is None else level)
    low, high = zip(*(panel.get_ylim() for panel in panels), strict=True)
    for panel in panels:
        panel.set_ylim(min(low), max(high))
    panels[0].legend(frameon=False)
    return panels


def _only_column(fitted: Fitted) -> str:
    names = columns_of(fitted)
    if len(names) != 1:
        raise ValueError(
            f"plot_1d expects a model of one column, or the name of one; this one has "
            f"{', '.join(map(repr, names))}. Pass column={names[0]!r}, say."
        )
    return names[0]


def _panels(count: int) -> np.ndarray:
    import matplotlib.pyplot as plt

    width = min(count, PANELS_PER_ROW)
    height = math.ceil(count / width)
    size = (3.6 * width, 2.8 * height)
    figure, grid = plt.subplots(height, width, squeeze=False, figsize=size, layout="constrained")
    panels = grid.ravel()
    for unused in panels[count:]:
        figure.delaxes(unused)
    return panels[:count]


def _places(along: Walk, values: np.ndarray) -> np.ndarray:
    """Where values of the column are on the axis; levels are at their numbers."""
    if not along.is_level:
        return values
    places = {value: float(place) for place, value in enumerate(along.values.tolist())}
    return np.array([places.get(value, np.nan) for value in values.tolist()])


def _draw(axes: "Axes", fitted: Fitted, along: Walk, level: float) -> None:
    at, predictive = _places(along, along.values), fitted.predict(along.rows)
    axes.set_xlabel(along.column)
    if along.is_level:
        axes.set_xticks(at, [str(value) for value in along.values])
    if isinstance(predictive, CategoricalPredictive):
        _draw_labels(axes, fitted, predictive, at, "o" if along.is_level else "-")
        return
    predictive = cast(AbstractRealPredictive, predictive)
    if np.ndim(predictive.mean) != 1:
        raise ValueError(
            f"expected a model of one target; got one of {np.shape(predictive.mean)[1]}. Fit each "
            "of them, or draw predict_distribution(X) yourself."
        )
    mean, known = np.asarray(predictive.mean), 2 * np.asarray(predictive.epistemic_std)
    bands = {
        f"{100 * level:g} % of observations": interval_of(fitted, predictive, level),
        "the function, two standard deviations": (mean - known, mean + known),
    }
    for (name, (low, high)), alpha in zip(bands.items(), (0.15, 0.35), strict=True):
        options = {"color": BAND, "alpha": alpha, "label": name, "linewidth": 0}
        if along.is_level:
            axes.bar(at, high - low, 0.5, bottom=low, **options)
        else:
            axes.fill_between(at, low, high, **options)
    axes.plot(at, mean, "o" if along.is_level else "-", color=LINES, label="mean")
    axes.set_ylabel(_target_name(fitted))


def _draw_labels(
    axes: "Axes", fitted: Fitted, predictive: CategoricalPredictive, at: np.ndarray, style: str
) -> None:
    """The probabilities of the classes that are predicted most, if there are many."""
    probabilities = np.asarray(predictive.probabilities)
    classes = cast(Labels, fitted.target).classes
    shown = np.sort(np.argsort(-probabilities.mean(axis=0))[:MOST_CLASSES])
    for number in shown:
        axes.plot(at, probabilities[:, number], style, label=str(classes[number]))
    axes.set(ylim=(-0.02, 1.02), ylabel="probability")


def _target_name(fitted: Fitted) -> str:
    return "y" if fitted.preparation is None else fitted.preparation.target[0]
