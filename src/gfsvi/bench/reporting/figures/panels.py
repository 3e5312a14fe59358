"""Figures of panels: functions of one input, classes in the plane, and currents."""

import textwrap
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import TriMesh
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from gfsvi.bench.reporting.figures.shown import BLUE, ORANGE, SKY, Shown

SIDE = 2.1
LETTERS_PER_INCH = 16
CURVES = (
    "x; blue: mean, two standard deviations and draws; dashed: two standard deviations of the "
    "exact posterior; distance: squared Wasserstein-2 to it"
)
ARROWS = 3
"""Spacing of the arrows, in grid lines."""


def curves(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Mean, two standard deviations and draws, with the exact posterior dashed."""
    grid = _grid(figure, rows, (SIDE, 0.85 * SIDE))
    for axes, label in grid:
        x, mean, std = (shown.series(label, name) for name in ("x", "mean", "std"))
        axes.fill_between(x, mean - 2 * std, mean + 2 * std, color=SKY, alpha=0.4, lw=0)
        for draw in shown.series(label, "draws"):
            axes.plot(x, draw, color=SKY, lw=0.7)
        axes.plot(x, mean, color=BLUE, lw=1.6)
        exact, spread = shown.series(label, "exact_mean"), shown.series(label, "exact_std")
        for edge in (exact - 2 * spread, exact + 2 * spread):
            axes.plot(x, edge, color=ORANGE, lw=0.9, ls="--")
        axes.plot(*(shown.series(label, f"data_{c}") for c in "xy"), ".", color="0.35", ms=2)
        far = shown.metric(label, "wasserstein2")
        axes.set_title(f"{shown.titles[label]}\ndistance {far:.2g}", fontsize=8.5)
        axes.set_ylim(-3.4, 3.4)
    width = round(LETTERS_PER_INCH * figure.get_size_inches()[0])
    figure.supxlabel("\n".join(textwrap.wrap(CURVES, width)), fontsize=8)


def planes(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Per row of labels, the probability of a class above and its standard deviation below."""
    doubled = [row for row in rows for _ in range(2)]
    grid = list(_grid(figure, doubled, (0.85 * SIDE, 0.8 * SIDE)))
    images: dict[str, AxesImage] = {}
    for number, (axes, label) in enumerate(grid):
        above = _row_of(number, doubled) % 2 == 0
        side = shown.series(label, "side")
        values = shown.series(label, "probability") if above else 2 * shown.series(label, "std")
        what = "probability" if above else "two standard deviations"
        images[what] = axes.imshow(
            np.reshape(values, (len(side), len(side))),
            origin="lower",
            extent=(side[0], side[-1], side[0], side[-1]),
            cmap="RdBu_r" if above else "cividis",
            vmin=0,
            vmax=1,
            aspect="auto",
        )
        x, y = shown.series(label, "data_x"), shown.series(label, "data_y")
        for kind, colour in ((0, "#67001f" if not above else "white"), (1, "black")):
            axes.plot(*x[y == kind].T, ".", ms=1.5, color=colour)
        axes.grid(False)
        if above:
            axes.set_title(shown.titles[label], fontsize=8.5)
    for what, image in images.items():
        figure.colorbar(image, ax=[axes for axes, _ in grid], label=what, shrink=0.6)


def currents(shown: Shown, rows: list[list[str]], figure: Figure) -> None:
    """Speed with arrows above and squared error below, with the measured field first."""
    labels = rows[0]
    places, truth = shown.series(labels[0], "places"), shown.series(labels[0], "truth")
    errors = {name: shown.series(name, "squared_error") for name in labels}
    fields = {"measured": truth} | {name: shown.series(name, "velocity") for name in labels}
    figure.set_size_inches(2.2 * len(fields) + 0.6, 3.9)
    grid = figure.subplots(2, len(fields), sharex=True, sharey=True, squeeze=False)
    fastest = _shared_top([np.linalg.norm(field, axis=1) for field in fields.values()])
    largest = _shared_top(list(errors.values()))
    speeds = [
        _current(axes, places, field, fastest)
        for axes, field in zip(grid[0], fields.values(), strict=True)
    ]
    maps = [
        _map(axes, places, errors[name], largest, "cividis")
        for axes, name in zip(grid[1, 1:], labels, strict=True)
    ]
    for axes, name in zip(grid[0], fields, strict=True):
        axes.plot(*shown.series(labels[0], "drifters").T, "o", color=ORANGE, mec="white", ms=4)
        axes.set_title(shown.titles.get(name, name), fontsize=9)
    for axes, name in zip(grid[1, 1:], labels, strict=True):
        axes.set_title(f"mean {shown.metric(name, 'mse'):.4f} per component", fontsize=8.5)
        axes.set_xlabel("longitude")
    _explain(grid[1, 0])
    grid[0, 0].tick_params(labelbottom=True)
    grid[0, 0].set_xlabel("longitude")
    for axes in (grid[0, 0], grid[1, 1]):
        axes.set_ylabel("latitude")
    grid[1, 1].tick_params(labelleft=True)
    figure.colorbar(speeds[0], ax=grid[0].tolist(), label="speed, m/s", extend="max")
    figure.colorbar(maps[0], ax=grid[1].tolist(), label="squared error, m²/s²", extend="max")


def _explain(axes: Axes) -> None:
    """Explain the marks in the panel that has no error to show."""
    axes.set_axis_off()
    lines = ("above: speed and direction", "orange: the 20 drifters", "below: squared error,")
    text = "\n".join((*lines, "both components together"))
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=8.5)


def _shared_top(values: list[np.ndarray]) -> float:
    """Upper end of a colour scale that ignores a few extremes."""
    return float(np.quantile(np.concatenate(values), 0.98))


def _current(axes: Axes, places: np.ndarray, velocity: np.ndarray, fastest: float) -> TriMesh:
    image = _map(axes, places, np.linalg.norm(velocity, axis=1), fastest, "viridis")
    chosen = _every(places, ARROWS)
    arrows = {"color": "white", "edgecolor": "black", "linewidth": 0.4, "width": 0.008}
    axes.quiver(*places[chosen].T, *velocity[chosen].T, scale=4.5, **arrows)
    return image


def _map(
    axes: Axes, places: np.ndarray, values: np.ndarray, largest: float, colours: str
) -> TriMesh:
    axes.grid(False)
    x, y = places.T
    return axes.tripcolor(
        x, y, values, shading="gouraud", cmap=colours, vmin=0, vmax=largest, rasterized=True
    )


def _every(places: np.ndarray, step: int) -> np.ndarray:
    """Mask of the places on every `step`-th line of a grid."""
    numbers = [np.unique(np.round(column, 6), return_inverse=True)[1] for column in places.T]
    return np.all([number % step == 0 for number in numbers], axis=0)


def _grid(
    figure: Figure, rows: list[list[str]], size: tuple[float, float]
) -> Iterator[tuple[Axes, str]]:
    width = max(map(len, rows))
    figure.set_size_inches(size[0] * width, size[1] * len(rows) + 0.4)
    grid = figure.subplots(len(rows), width, sharex=True, sharey=True, squeeze=False)
    for row, axes_row in zip(rows, grid, strict=True):
        for axes in axes_row[len(row) :]:
            axes.set_axis_off()
        yield from zip(axes_row, row, strict=False)


def _row_of(number: int, rows: list[list[str]]) -> int:
    """The row of a panel, given its number counted row by row."""
    ends = np.cumsum([len(row) for row in rows])
    return int(np.searchsorted(ends, number, side="right"))
