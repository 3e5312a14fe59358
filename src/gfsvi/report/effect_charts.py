"""Pictures of effects: lines along numbers and dates, one line per level of a category."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.pages.pictures import BLUE, GREEN, INK, MUTED, ORANGE, picture
from gfsvi.report.axes import dates, days_since_1970, plain_numbers
from gfsvi.report.evidence import Effect, Line
from gfsvi.report.formatting import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOUR_NAMES = ("blue", "orange", "green")
_COLOURS = (BLUE, ORANGE, GREEN)
_NUM_BARS = 6


def effect_limits(effects: Sequence[Effect]) -> tuple[float, float]:
    """Return common limits of what is predicted, so that effects can be compared."""
    lines = [line for effect in effects for line in effect.lines]
    low = min(np.min(line.lowest) for line in lines)
    high = max(np.max(line.highest) for line in lines)
    margin = 0.05 * max(high - low, 1e-12)
    return float(low - margin), float(high + margin)


def effect(effect: Effect, name: str, y_label: str, limits: tuple[float, float]) -> str:
    """Draw predictions along one column."""

    def draw(axes: "Axes") -> None:
        if effect.levels is None:
            _draw_lines(axes, effect)
            axes.set_ylabel(shortened(y_label, 24))
            axes.set_ylim(limits)
            plain_numbers(axes, "y")
        else:
            _draw_levels(axes, effect)
            axes.set_xlabel(shortened(y_label, 24))
            axes.set_xlim(limits)
            plain_numbers(axes, "x", most=3)
        axes.set_title(shortened(effect.column, 30), fontsize=10.5, loc="left")

    text = f"Effect of {shortened(effect.column)} on {shortened(y_label)}, with uncertainty."
    return picture(name, text, draw, (3.4, 2.6))


def _draw_lines(axes: "Axes", effect: Effect) -> None:
    x, deciles = effect.grid, effect.deciles
    if effect.first_day is not None:
        x, deciles = (days_since_1970(effect.first_day, days) for days in (x, deciles))
        dates(axes)
    else:
        plain_numbers(axes, "x", whole=effect.is_whole)
    several = len(effect.lines) > 1
    for number, (line, colour) in enumerate(zip(effect.lines, _COLOURS, strict=False)):
        axes.plot(x, line.mean, color=colour)
        if several:
            _draw_error_bars(axes, x, line, colour, number)
        else:
            _draw_band(axes, x, line, colour)
    # Ticks along the lower edge show where the data are.
    base = axes.get_xaxis_transform()
    axes.vlines(deciles, 0, 0.035, color=MUTED, lw=1, transform=base)


def _draw_band(axes: "Axes", x: np.ndarray, line: Line, colour: str) -> None:
    if line.observed_low is not None:
        axes.fill_between(x, line.observed_low, line.observed_high, color=colour, alpha=0.12, lw=0)
    axes.fill_between(x, line.low, line.high, color=colour, alpha=0.32, lw=0)


def _draw_error_bars(axes: "Axes", x: np.ndarray, line: Line, colour: str, number: int) -> None:
    """Draw intervals side by side at a few places: bands of several lines would overlap."""
    step = max(1, len(x) // _NUM_BARS)
    at = np.arange(step // 2 + number * step // 4, len(x), step)
    axes.vlines(x[at], line.low[at], line.high[at], color=colour, lw=2, alpha=0.45)


def _draw_levels(axes: "Axes", effect: Effect) -> None:
    names = [shortened(level, 20) for level in effect.levels or ()]
    count = len(effect.lines)
    for number, (line, colour) in enumerate(zip(effect.lines, _COLOURS, strict=False)):
        y = effect.grid + (number - (count - 1) / 2) * 0.24
        width = 9 if count == 1 else 3
        if line.observed_low is not None:
            axes.hlines(
                y, line.observed_low, line.observed_high, color=colour, lw=width, alpha=0.14
            )
        axes.hlines(y, line.low, line.high, color=colour, lw=width, alpha=0.4)
        axes.plot(line.mean, y, "o", color=colour, ms=5)
    axes.set_yticks(effect.grid, names)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(False, axis="y")
