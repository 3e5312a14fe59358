"""Pictures with one line per column: what predictions depend on, and how quickly they change."""

from typing import TYPE_CHECKING

import numpy as np

from gfsvi.auto.importance import Importance
from gfsvi.pages.pictures import BLUE, INK, MUTED, ORANGE, picture
from gfsvi.report.axes import legend_above
from gfsvi.report.evidence import PriorEvidence
from gfsvi.report.formatting import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

MAX_BARS = 15
LONGEST_SHOWN = 100.0
"""A function with a longer length scale, in standard deviations, is a straight line."""
_WIDTH = 4.8


def importance(importance: Importance, target: int, name: str) -> str:
    """Draw the shares of the variance that columns explain, the largest total on top."""
    order = by_target(importance, target)[:MAX_BARS]
    names = [shortened(importance.columns[i], 24) for i in order]
    places = np.arange(len(order))

    def draw(axes: "Axes") -> None:
        parts = (
            ("total", importance.total, importance.total_std, BLUE, -0.19),
            ("first order", importance.first_order, importance.first_order_std, ORANGE, 0.19),
        )
        for label, shares, errors, colour, shift in parts:
            share, error = (_of_target(values, target)[order] for values in (shares, errors))
            axes.barh(places + shift, share, color=colour, height=0.34, label=label)
            low, high = np.maximum(share - 2 * error, 0), share + 2 * error
            axes.hlines(places + shift, low, high, color=INK, lw=1)
        _name_lines(axes, names)
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        axes.set_xlim(left=0)
        axes.set_xlabel("share of the variance of predictions")
        legend_above(axes)

    text = (
        f"Share of the variance of predictions explained by {len(order)} columns, {names[0]} first."
    )
    return picture(name, text, draw, (_WIDTH, 1.2 + 0.36 * len(order)))


def length_scales(prior: PriorEvidence) -> str:
    """Draw the length scale of each column, the shortest on top."""
    shown = prior.length_scales[:MAX_BARS]
    names = [shortened(scale.column, 24) for scale in shown]
    values = np.minimum([scale.value for scale in shown], LONGEST_SHOWN)

    def draw(axes: "Axes") -> None:
        axes.axvline(1, color=MUTED, lw=1, ls="--")
        axes.plot(values, range(len(shown)), "o", color=BLUE, ms=6)
        axes.set_xscale("log")
        low = min(0.1, float(values.min()) / 1.5)
        axes.set_xlim(low, LONGEST_SHOWN * 1.2)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        _name_lines(axes, names)
        axes.set_xlabel("length scale (standard deviations)")

    text = f"Length scales of {len(shown)} columns, from the shortest, that of {names[0]}."
    return picture("length-scales", text, draw, (_WIDTH, 0.9 + 0.27 * len(shown)))


def by_target(importance: Importance, target: int) -> np.ndarray:
    """Positions of columns by their total share of one target, the largest first."""
    return np.argsort(-_of_target(importance.total, target), kind="stable")


def _of_target(values: np.ndarray, target: int) -> np.ndarray:
    return values if values.ndim == 1 else values[:, target]


def _name_lines(axes: "Axes", names: "Sequence[str]") -> None:
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(False, axis="y")
