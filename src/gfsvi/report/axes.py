"""Axes that several pictures share: plain numbers, whole numbers and dates, legends beside data."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from gfsvi.report.formatting import tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TICKS = 5


def plain_numbers(
    axes: "Axes", which: Literal["x", "y"], *, whole: bool = False, most: int = _MOST_TICKS
) -> None:
    """Write the numbers of an axis as everywhere on the page; whole numbers have no fractions."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(most, integer=whole))
    axis.set_major_formatter(lambda value, _: tick(value))


def dates(axes: "Axes") -> None:
    """Write days since 1970 along the horizontal axis as dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=2, maxticks=_MOST_TICKS)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))


def days_since_1970(first: str, days: np.ndarray) -> np.ndarray:
    """Days since a date as days since 1970."""
    start = np.datetime64(first, "ms").astype(np.float64) / 86_400_000
    return start + np.asarray(days)


def legend_above(axes: "Axes") -> None:
    """Put the legend above the axes, where it covers nothing."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        borderaxespad=0.2,
        handlelength=1.4,
        columnspacing=1.2,
        fontsize=8.5,
    )
