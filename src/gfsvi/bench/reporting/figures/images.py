"""Figures of image tasks: entropy by rotation, validation score by step, known and unknown."""

import numpy as np
from matplotlib.figure import Figure, SubFigure

from gfsvi.bench.reporting.figures.shown import BLUE, COLOURS, ORANGE, Shown

STYLES = ("-", "--", ":")
PANEL = 1.55
MAX_SHARE = 0.3
MAX_FALL = 0.6
"""Validation scores are shown down to this many nats below the best."""


def images(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """One row of curves and one row of histograms per data set."""
    labels = [label for row in rows for label in row]
    width = max(8.0, PANEL * len(labels))
    figure.set_size_inches(width, 5.2 * len(shown.datasets))
    heights = [3.0, 2.2] * len(shown.datasets)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for number, dataset in enumerate(shown.datasets):
        part = shown.of(dataset)
        present = [label for label in labels if label in part.records]
        parts[2 * number].suptitle(dataset.replace("_", "-"), fontsize=11)
        _curves(part, present, parts[2 * number])
        _histograms(part, present, parts[2 * number + 1])


def _curves(shown: Shown, labels: list[str], figure: SubFigure) -> None:
    turned, trained = figure.subplots(1, 2)
    for number, label in enumerate(labels):
        look = {"color": COLOURS[number % len(COLOURS)], "label": shown.titles[label]}
        look["linestyle"] = STYLES[number // len(COLOURS)]
        turned.plot(shown.series(label, "angles"), shown.series(label, "entropy_at_angle"), **look)
        if shown.has(label, "scores"):
            trained.plot(shown.series(label, "steps"), shown.series(label, "scores"), **look)
    turned.set_xlabel("rotation of test images in degrees")
    turned.set_ylabel("mean predictive entropy")
    turned.set_xticks(np.arange(0, 181, 45))
    trained.set_xlabel("step (of GFSVI: after the mean was fitted)")
    trained.set_ylabel("validation expected log-likelihood")
    values = [np.asarray(line.get_ydata()) for line in trained.lines]
    if values:
        best, worst = max(v.max() for v in values), min(v.min() for v in values)
        trained.set_ylim(max(worst, best - MAX_FALL) - 0.01, best + 0.01)
    names = turned.get_legend_handles_labels()
    trained.legend(*names, fontsize=7.5, loc="center left", bbox_to_anchor=(1.01, 0.5))


def _histograms(shown: Shown, labels: list[str], figure: SubFigure) -> None:
    panels = figure.subplots(1, len(labels), sharex=True, sharey=True, squeeze=False)[0]
    for axes, label in zip(panels, labels, strict=True):
        edges = shown.series(label, "entropy_edges")
        for name, colour in (("known", BLUE), ("unknown", ORANGE)):
            shares = shown.series(label, f"share_{name}")
            axes.stairs(shares, edges, fill=True, alpha=0.55, color=colour, label=name)
            axes.stairs(shares, edges, color=colour, linewidth=1)
            if shares[0] > MAX_SHARE:  # the bar is cut off: print its height
                axes.annotate(
                    f"{shares[0]:.2f}", (edges[1], 0.93 * MAX_SHARE), fontsize=7.5, color=colour
                )
        accuracy = shown.metric(label, "ood_accuracy")
        axes.set_title(f"{shown.titles[label]}\ntold apart: {accuracy:.3f}", fontsize=8)
    panels[0].set_ylabel("share of images")
    panels[0].set_ylim(0, MAX_SHARE)
    panels[0].legend(fontsize=7.5, loc="upper center")
    figure.supxlabel("predictive entropy in nats", fontsize=9)
