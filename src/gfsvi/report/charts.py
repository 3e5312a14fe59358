"""The pictures of the page, each drawn from one part of the evidence."""

from typing import TYPE_CHECKING

import numpy as np

from gfsvi.pages.pictures import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, SURFACE, picture
from gfsvi.report.axes import legend_above, plain_numbers
from gfsvi.report.evidence import (
    ClassificationResult,
    Curve,
    RegressionOutput,
    Uncertainty,
    sampling_error,
)
from gfsvi.report.formatting import count, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

_MAX_DOTS = 150
_MAX_COUNTED_CLASSES = 12


def learning_curve(curve: Curve) -> str:
    """Draw the objective and the score on held-out rows against the step."""

    def draw(axes: "Axes") -> None:
        steps = np.arange(1, len(curve.objective) + 1)
        axes.plot(
            steps, curve.objective, color=BLUE, alpha=0.75, lw=1.2, label="training objective"
        )
        if len(curve.scores):
            axes.plot(curve.score_steps, curve.scores, color=ORANGE, label="held-out rows")
            axes.axvline(curve.best_step, color=MUTED, ls=":", lw=1.2, label="kept model")
        axes.set_ylim(_curve_limits(curve))
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("step")
        axes.set_ylabel("score per row (larger is better)")
        legend_above(axes)

    return picture(
        "learning", "Objective and score on held-out rows during training.", draw, (4.8, 3.0)
    )


def _curve_limits(curve: Curve) -> tuple[float, float]:
    # The first steps are so far off that they would flatten the rest of the curve.
    settled = curve.objective[len(curve.objective) // 10 :]
    values = np.concatenate([settled, curve.scores[len(curve.scores) // 10 :]])
    low, high = np.quantile(values, 0.02), np.max(values)
    margin = 0.08 * max(high - low, 1e-6)
    return float(low - 2 * margin), float(high + margin)


def predicted_against_actual(output: RegressionOutput, name: str) -> str:
    """Draw predictions with their 95 % intervals against the actual values."""
    rows = np.arange(len(output.actual))
    if len(rows) > _MAX_DOTS:
        rows = rows[np.linspace(0, len(rows) - 1, _MAX_DOTS).astype(int)]
    actual, predicted = output.actual[rows], output.predicted[rows]
    lower, upper = output.lower[rows], output.upper[rows]
    missed = (actual < lower) | (actual > upper)

    def draw(axes: "Axes") -> None:
        ends = [min(actual.min(), predicted.min()), max(actual.max(), predicted.max())]
        axes.plot(ends, ends, color=MUTED, lw=1, ls="--")
        for chosen, colour in ((~missed, BLUE), (missed, ORANGE)):
            axes.vlines(actual[chosen], lower[chosen], upper[chosen], color=colour, alpha=0.25)
            axes.plot(actual[chosen], predicted[chosen], "o", color=colour, ms=3.5)
        axes.set_xlabel("actual")
        axes.set_ylabel("predicted, with 95 % interval")
        plain_numbers(axes, "x")
        plain_numbers(axes, "y")

    text = f"Predicted against actual {shortened(output.name)}, with 95 % intervals."
    return picture(f"{name}-predicted", text, draw, (4.6, 3.8))


def coverage(output: RegressionOutput, name: str) -> str:
    """Draw observed against nominal coverage of the intervals."""
    levels = np.linspace(0, 1, 101)
    error = sampling_error(levels, output.num_independent)

    def draw(axes: "Axes") -> None:
        band = np.clip(levels - error, 0, 1), np.clip(levels + error, 0, 1)
        axes.fill_between(levels, *band, color=FAINT, alpha=0.6, lw=0, label="sampling error")
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--")
        axes.plot(output.levels, output.coverages, "o-", color=BLUE, ms=3.5, label="this model")
        _square(axes, "nominal coverage", "observed coverage")

    text = f"Observed against nominal coverage of the intervals for {shortened(output.name)}."
    return picture(f"{name}-coverage", text, draw, (4.6, 3.8))


def reliability(labels: ClassificationResult) -> str:
    """Draw accuracy against confidence."""
    bins = labels.bins
    confidence = np.array([b.confidence for b in bins])
    accuracy = np.array([b.accuracy for b in bins])
    counts = np.array([b.count for b in bins])
    error = sampling_error(confidence, counts)

    def draw(axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--")
        low, high = np.clip(confidence - error, 0, 1), np.clip(confidence + error, 0, 1)
        axes.vlines(confidence, low, high, color=FAINT, lw=7, label="sampling error")
        sizes = 18 + 160 * counts / counts.sum()
        axes.scatter(confidence, accuracy, s=sizes, color=BLUE, zorder=3, label="this model")
        _square(axes, "confidence", "accuracy")

    return picture("reliability", "Accuracy against confidence.", draw, (4.6, 3.8))


def _square(axes: "Axes", x_label: str, y_label: str) -> None:
    ticks = np.linspace(0, 1, 6)
    axes.set_xticks(ticks, [f"{100 * t:.0f} %" for t in ticks])
    axes.set_yticks(ticks, [f"{100 * t:.0f} %" for t in ticks])
    axes.set_xlim(-0.02, 1.04)
    axes.set_ylim(-0.02, 1.04)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    legend_above(axes)


def confusion(labels: ClassificationResult) -> str:
    """Draw the counts of actual against predicted classes."""
    counts = labels.confusion
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [shortened(name, 14) for name in labels.classes]

    def draw(axes: "Axes") -> None:
        for i, j in np.ndindex(*counts.shape):
            corner, share = (j - 0.48, i - 0.48), float(shares[i, j])
            axes.add_patch(_tile(corner, GREEN if i == j else ORANGE, share))
            if len(names) <= _MAX_COUNTED_CLASSES:
                colour = SURFACE if share > 0.6 else INK
                axes.text(j, i, count(int(counts[i, j])), ha="center", va="center", color=colour)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        _name_classes(axes, names)

    return picture("confusion", "Actual against predicted classes.", draw, (4.6, 3.8))


def _tile(corner: tuple[float, float], colour: str, share: float) -> "Rectangle":
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 0.96, 0.96, color=colour, alpha=0.06 + 0.86 * share, lw=0)


def _name_classes(axes: "Axes", names: list[str]) -> None:
    crowded = sum(map(len, names)) > 36
    step = max(1, len(names) // 20)
    axes.set_xticks(range(0, len(names), step), names[::step], rotation=60 if crowded else 0)
    axes.set_yticks(range(0, len(names), step), names[::step])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_xlabel("predicted")
    axes.set_ylabel("actual")


def novelty(uncertainty: Uncertainty) -> str:
    """Draw a histogram of novelty."""

    def draw(axes: "Axes") -> None:
        axes.hist(uncertainty.novelty, bins=np.linspace(0, 1, 41), color=BLUE, rwidth=0.86)
        axes.set_xlim(0, 1)
        axes.set_xlabel("novelty (0: familiar, 1: unlike any training row)")
        axes.set_ylabel("rows")
        axes.grid(False, axis="x")
        plain_numbers(axes, "y")

    return picture("novelty", "Histogram of novelty over the rows.", draw, (4.8, 2.4))
