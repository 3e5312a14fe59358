"""The pictures of the page, each from a piece of the evidence."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gfsvi.pages.pictures import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, SURFACE, picture
from gfsvi.report.evidence import (
    ClassificationResult,
    Curve,
    Doubt,
    Effect,
    PriorEvidence,
    RegressionOutput,
)
from gfsvi.report.words import shortened

MAX_BARS = 15
_LINE_COLOURS = (BLUE, ORANGE, GREEN)
_MAX_DOTS = 400
_MAX_COUNTED_CLASSES = 12


def relevance(prior: PriorEvidence) -> str:
    """Bars of relevance, the largest on top."""
    shown = prior.relevances[:MAX_BARS]
    names = [shortened(relevance.feature, 24) for relevance in shown]
    values = [relevance.value for relevance in shown]

    def draw(axes: Any) -> None:
        axes.barh(range(len(shown)), values, color=BLUE, height=0.62)
        axes.set_yticks(range(len(shown)), names)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.invert_yaxis()
        axes.grid(False, axis="y")
        axes.set_xlabel("relevance: 1 / length scale")

    text = f"Relevance of {len(shown)} features, {names[0]} first."
    return picture("relevance", text, draw, (4.8, 0.9 + 0.27 * len(shown)))


def learning_curve(curve: Curve) -> str:
    """Objective and held-out score against the step."""

    def draw(axes: Any) -> None:
        steps = np.arange(1, len(curve.objective) + 1)
        axes.plot(
            steps, curve.objective, color=BLUE, alpha=0.75, lw=1.2, label="training objective"
        )
        if len(curve.scores):
            axes.plot(curve.score_steps, curve.scores, color=ORANGE, label="held-out rows")
            axes.axvline(curve.best_step, color=MUTED, ls=":", lw=1.2, label="kept")
        axes.set_ylim(_curve_limits(curve))
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel("step")
        axes.set_ylabel("score a row (larger is better)")
        axes.legend(loc="lower right")

    return picture("learning", "Objective and held-out score while training.", draw, (4.8, 3.0))


def _curve_limits(curve: Curve) -> tuple[float, float]:
    # The first steps fall from so far that they would flatten all the rest.
    settled = curve.objective[len(curve.objective) // 10 :]
    values = np.concatenate([settled, curve.scores[len(curve.scores) // 10 :]])
    low, high = np.quantile(values, 0.02), np.max(values)
    margin = 0.08 * max(high - low, 1e-6)
    return float(low - 2 * margin), float(high + margin)


def predicted_against_actual(output: RegressionOutput, name: str) -> str:
    """Dots with their 95 % intervals around the diagonal."""
    rows = np.arange(len(output.actual))
    if len(rows) > _MAX_DOTS:
        rows = rows[np.linspace(0, len(rows) - 1, _MAX_DOTS).astype(int)]
    actual, predicted = output.actual[rows], output.predicted[rows]
    lower, upper = output.lower[rows], output.upper[rows]
    missed = (actual < lower) | (actual > upper)

    def draw(axes: Any) -> None:
        ends = [min(actual.min(), predicted.min()), max(actual.max(), predicted.max())]
        axes.plot(ends, ends, color=MUTED, lw=1, ls="--")
        for chosen, colour in ((~missed, BLUE), (missed, ORANGE)):
            axes.vlines(actual[chosen], lower[chosen], upper[chosen], color=colour, alpha=0.25)
            axes.plot(actual[chosen], predicted[chosen], "o", color=colour, ms=3.5)
        axes.set_xlabel("actual")
        axes.set_ylabel("predicted, with 95 % interval")

    text = f"Predicted against actual {shortened(output.name)}, with 95 % intervals."
    return picture(f"{name}-predicted", text, draw, (4.6, 3.8))


def coverage(output: RegressionOutput, name: str) -> str:
    """Share of rows inside their interval against the level promised."""
    levels = np.linspace(0, 1, 101)
    # Two standard errors of a share: what chance alone does with this many rows.
    error = 2 * np.sqrt(levels * (1 - levels) / max(len(output.actual), 1))

    def draw(axes: Any) -> None:
        band = np.clip(levels - error, 0, 1), np.clip(levels + error, 0, 1)
        axes.fill_between(levels, *band, color=FAINT, alpha=0.6, lw=0, label="chance")
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--")
        axes.plot(output.levels, output.coverages, "o-", color=BLUE, ms=3.5, label="this model")
        _square(axes, "promised by the interval", "rows inside")

    text = f"Coverage of intervals for {shortened(output.name)} against their level."
    return picture(f"{name}-coverage", text, draw, (4.6, 3.8))


def reliability(labels: ClassificationResult) -> str:
    """Share called right against confidence."""
    bins = labels.bins
    confidence = np.array([b.confidence for b in bins])
    accuracy = np.array([b.accuracy for b in bins])
    counts = np.array([b.count for b in bins])
    error = 2 * np.sqrt(confidence * (1 - confidence) / counts)

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls="--")
        low, high = np.clip(confidence - error, 0, 1), np.clip(confidence + error, 0, 1)
        axes.vlines(confidence, low, high, color=FAINT, lw=7, label="chance")
        sizes = 18 + 160 * counts / counts.sum()
        axes.scatter(confidence, accuracy, s=sizes, color=BLUE, zorder=3, label="this model")
        _square(axes, "confidence", "called right")

    return picture("reliability", "Share called right against confidence.", draw, (4.6, 3.8))


def _square(axes: Any, x_label: str, y_label: str) -> None:
    ticks = np.linspace(0, 1, 6)
    axes.set_xticks(ticks, [f"{100 * t:.0f} %" for t in ticks])
    axes.set_yticks(ticks, [f"{100 * t:.0f} %" for t in ticks])
    axes.set_xlim(-0.02, 1.04)
    axes.set_ylim(-0.02, 1.04)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend(loc="upper left")


def confusion(labels: ClassificationResult) -> str:
    """Counts of actual against predicted classes."""
    counts = labels.confusion
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [shortened(name, 14) for name in labels.classes]

    def draw(axes: Any) -> None:
        for i, j in np.ndindex(*counts.shape):
            corner, share = (j - 0.48, i - 0.48), float(shares[i, j])
            axes.add_patch(_tile(corner, GREEN if i == j else ORANGE, share))
            if len(names) <= _MAX_COUNTED_CLASSES:
                colour = SURFACE if share > 0.6 else INK
                axes.text(j, i, str(counts[i, j]), ha="center", va="center", color=colour)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        _name_classes(axes, names)

    return picture("confusion", "Actual against predicted classes.", draw, (4.6, 3.8))


def _tile(corner: tuple[float, float], colour: str, share: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 0.96, 0.96, color=colour, alpha=0.06 + 0.86 * share, lw=0)


def _name_classes(axes: Any, names: list[str]) -> None:
    crowded = sum(map(len, names)) > 36
    step = max(1, len(names) // 20)
    axes.set_xticks(range(0, len(names), step), names[::step], rotation=60 if crowded else 0)
    axes.set_yticks(range(0, len(names), step), names[::step])
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelcolor=INK)
    axes.set_xlabel("predicted")
    axes.set_ylabel("actual")


def novelty(doubt: Doubt) -> str:
    """How many rows have which novelty."""

    def draw(axes: Any) -> None:
        axes.hist(doubt.novelty, bins=np.linspace(0, 1, 41), color=BLUE, rwidth=0.86)
        axes.set_xlim(0, 1)
        axes.set_xlabel("novelty: 0 familiar, 1 unlike anything seen")
        axes.set_ylabel("rows")
        axes.grid(False, axis="x")

    return picture("novelty", "Histogram of novelty.", draw, (4.8, 2.4))


def effect_limits(effects: Sequence[Effect]) -> tuple[float, float]:
    """One scale for all effects, so that they can be compared."""
    lines = [line for effect in effects for line in effect.lines]
    low = min(
        np.min(line.low if line.observed_low is None else line.observed_low) for line in lines
    )
    high = max(
        np.max(line.high if line.observed_high is None else line.observed_high) for line in lines
    )
    margin = 0.05 * max(high - low, 1e-12)
    return float(low - margin), float(high + margin)


def effect(effect: Effect, name: str, y_label: str, limits: tuple[float, float]) -> str:
    """Predictions along one column."""

    def draw(axes: Any) -> None:
        for line, colour in zip(effect.lines, _LINE_COLOURS, strict=False):
            if effect.levels is None:
                _draw_band(axes, effect, line, colour)
            else:
                _draw_bars(axes, effect, line, colour)
        if effect.levels is not None:
            names = [shortened(level, 12) for level in effect.levels]
            slanted = sum(map(len, names)) > 26
            axes.set_xticks(effect.grid, names, rotation=50 if slanted else 0)
            axes.set_xlim(-0.6, len(names) - 0.4)
        if len(effect.lines) > 1:
            axes.legend(loc="best", fontsize=8)
        axes.set_title(shortened(effect.column, 30), fontsize=10.5, loc="left")
        axes.set_ylabel(shortened(y_label, 24))
        axes.set_ylim(limits)

    text = f"Effect of {shortened(effect.column)} on {shortened(y_label)}, with uncertainty."
    return picture(name, text, draw, (3.4, 2.5))


def _draw_band(axes: Any, effect: Effect, line: Any, colour: str) -> None:
    x = effect.grid
    if line.observed_low is not None:
        axes.fill_between(x, line.observed_low, line.observed_high, color=colour, alpha=0.12, lw=0)
    axes.fill_between(x, line.low, line.high, color=colour, alpha=0.32, lw=0)
    axes.plot(x, line.mean, color=colour, label=shortened(line.label, 18))
    # Where the data lie: one tick a tenth of the rows, along the lower edge.
    base = axes.get_xaxis_transform()
    axes.vlines(effect.deciles, 0, 0.035, color=MUTED, lw=1, transform=base)


def _draw_bars(axes: Any, effect: Effect, line: Any, colour: str) -> None:
    x = effect.grid
    if line.observed_low is not None:
        axes.vlines(x, line.observed_low, line.observed_high, color=colour, lw=9, alpha=0.14)
    axes.vlines(x, line.low, line.high, color=colour, lw=9, alpha=0.4)
    axes.plot(x, line.mean, "o", color=colour, ms=5, label=shortened(line.label, 18))
