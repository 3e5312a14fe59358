"""Draws the figure of an experiment according to its task."""

import io
import warnings
from collections.abc import Callable

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting.figures import images, lines, panels
from gfsvi.bench.reporting.figures.shown import Shown
from gfsvi.bench.running.records import OK, Record

Drawer = Callable[[Shown, list[list[str]], Figure], None]

DRAWERS: dict[str, Drawer] = {
    "curve": panels.curves,
    "plane": panels.planes,
    "ocean": panels.currents,
    "spectrum": lines.spectra,
    "magnitude": lines.magnitudes,
    "rank": lines.ranks,
    "convergence": lines.convergence,
    "classification": images.images,
}
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "legend.frameon": False,
}
DOTS_PER_INCH = 110


def draw_figure(experiment: Experiment, records: list[Record]) -> bytes | None:
    """The figure of an experiment as PNG; None if its task has none or nothing is recorded."""
    drawer = DRAWERS.get(experiment.task)
    by_dataset: dict[str, dict[str, Record]] = {}
    for record in reversed(records):  # later entries are overwritten by the first fold and seed
        if _has_series(record):
            by_dataset.setdefault(record["dataset"], {})[record["method"]] = record
    if drawer is None or not by_dataset:
        return None
    labels = {label for seen in by_dataset.values() for label in seen}
    titles = {label: experiment.report.get("titles", {}).get(label, label) for label in labels}
    rows = experiment.report.get("panels", [list(experiment.methods)])
    rows = [[label for label in row if label in labels] for row in rows]
    ordered = {name: by_dataset[name] for name in experiment.datasets if name in by_dataset}
    first, *_ = ordered
    figure = Figure(layout="constrained")
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about panels too narrow for their labels
        shown = Shown(ordered.pop(first), titles, ordered)
        drawer(shown, [row for row in rows if row], figure)
        FigureCanvasAgg(figure)
        # Without the version of matplotlib, so that equal records give equal bytes.
        content = io.BytesIO()
        figure.savefig(content, dpi=DOTS_PER_INCH, format="png", metadata={"Software": None})
    return content.getvalue()


def _has_series(record: Record) -> bool:
    return record["status"] == OK and bool(record.get("series"))
