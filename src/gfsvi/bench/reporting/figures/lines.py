"""Figures of lines: spectra, divergences, ranks and convergence."""

import numpy as np
from matplotlib.figure import Figure

from gfsvi.bench.reporting.figures.shown import COLOURS, Shown

STYLES = ("-", "--", ":", "-.")


def spectra(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Eigenvalues of Gram matrices, largest first; one panel per row of labels."""
    figure.set_size_inches(4.2 * len(rows), 3.2)
    panels = figure.subplots(1, len(rows), squeeze=False)[0]
    for axes, row in zip(panels, rows, strict=True):
        for label, colour in zip(row, COLOURS, strict=False):
            values = shown.series(label, "eigenvalues")
            axes.semilogy(1 + np.arange(len(values)), values, color=colour, lw=1.5)
            axes.lines[-1].set_label(shown.titles[label])
        axes.set_xlabel("index of the eigenvalue")
        axes.set_ylabel("mean eigenvalue")
        axes.set_ylim(1e-16, None)
        axes.legend(fontsize=7.5)


def magnitudes(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Divergence against gamma, one line per number of points and one panel per label."""
    labels = [label for row in rows for label in row]
    figure.set_size_inches(4.0 * len(labels), 3.2)
    panels = figure.subplots(1, len(labels), squeeze=False, sharey=True)[0]
    for axes, label in zip(panels, labels, strict=True):
        gammas, counts = shown.series(label, "gammas"), shown.series(label, "num_points")
        lines = zip(counts, shown.series(label, "divergence"), COLOURS, strict=False)
        for count, values, colour in lines:
            axes.loglog(gammas, values, color=colour, lw=1.4, label=f"M = {count:.0f}")
        axes.set_title(shown.titles[label], fontsize=9)
        axes.set_xlabel("gamma")
    panels[0].set_ylabel("regularised KL")
    panels[0].legend(fontsize=7.5)


def ranks(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Relative eigenvalues of posterior covariances; colours by column, styles by row."""
    figure.set_size_inches(5.0, 3.4)
    axes = figure.subplots()
    for row, style in zip(rows, STYLES, strict=False):
        for label, colour in zip(row, COLOURS, strict=False):
            values = shown.series(label, "eigenvalues")
            name = f"{shown.titles[label]}: rank {shown.metric(label, 'rank'):.0f}"
            axes.semilogy(1 + np.arange(len(values)), values, style, color=colour, label=name)
    axes.set_xlabel("index of the eigenvalue")
    axes.set_ylabel("eigenvalue / largest")
    axes.set_ylim(1e-12, 2)
    axes.legend(fontsize=7.5)


def convergence(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Validation score against steps and seconds, with a dot where it has converged."""
    figure.set_size_inches(8.4, 3.4)
    panels = figure.subplots(1, 2, sharey=True)
    labels = [label for row in rows for label in row]
    for label, colour, style in zip(labels, COLOURS, STYLES, strict=False):
        steps, scores = shown.series(label, "steps"), shown.series(label, "scores")
        first = shown.metric(label, "steps_until_close")
        for axes, pace in zip(panels, (1.0, _seconds_per_step(shown, label)), strict=True):
            axes.semilogx(pace * steps, scores, style, color=colour, label=shown.titles[label])
            axes.plot(pace * first, scores[steps == first], "o", color=colour, ms=6)
    best = max(np.max(shown.series(label, "scores")) for label in labels)
    panels[0].set_ylim(best - 2.5, best + 0.2)
    panels[0].set_ylabel("validation expected log-likelihood")
    panels[0].set_xlabel("step")
    panels[1].set_xlabel("seconds of training")
    panels[1].legend(fontsize=8, loc="lower right")


def _seconds_per_step(shown: Shown, label: str) -> float:
    return shown.metric(label, "milliseconds_a_step") / 1000
