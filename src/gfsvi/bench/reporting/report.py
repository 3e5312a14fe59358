"""Reports on the records in a folder; equal records give equal bytes."""

import dataclasses
import os
from pathlib import Path

from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.bench.reporting.latex import latex
from gfsvi.bench.reporting.markdown import FIGURE, markdown
from gfsvi.bench.reporting.spreadsheet import comma_separated
from gfsvi.bench.reporting.summary import Table, tables
from gfsvi.bench.running.records import Record, Records
from gfsvi.bench.schema import is_complete
from gfsvi.storage.files import write_bytes, write_text

EXPERIMENT = "experiment.toml"


def write_reports(folder: str | os.PathLike[str], page: str | None = None) -> list[Path]:
    """Write report.md, report.csv, report.tex, the page and the figure beside the records.

    Args:
        folder: The folder with the records and the experiment.
        page: Where to write the page; by default report.html in the folder.
    """
    from gfsvi.bench.reporting.figures import draw_figure  # needs matplotlib
    from gfsvi.bench.reporting.page import html  # needs jinja2 and matplotlib

    home = Path(folder)
    experiment, records = read_results(home)
    shown = shown_tables(experiment, records)
    contents = {
        home / "report.md": markdown(experiment, records, shown),
        home / "report.csv": comma_separated(shown),
        home / "report.tex": latex(shown),
        Path(page) if page else home / "report.html": html(experiment, records, shown),
    }
    for path, content in contents.items():
        write_text(path, content)
    figure = draw_figure(experiment, records)
    if figure is None:
        return [*contents]
    write_bytes(home / FIGURE, figure)
    return [*contents, home / FIGURE]


def read_results(folder: Path) -> tuple[Experiment, list[Record]]:
    """The experiment of a folder, and the records of its runs in a fixed order."""
    path = folder / EXPERIMENT
    found = Records(folder).read()
    if not found or not path.exists():
        raise ExperimentError(
            f"expected records and {EXPERIMENT} in {folder}; got none. "
            "Name a folder that `gfsvi bench run` has written to."
        )
    for record in found:
        if not is_complete(record):
            raise ExperimentError(
                f"expected whole records in {folder}; got one without data set, method or version, "
                f"of run {record['run']!r:.40}. Remove its line to repeat the run."
            )
    experiment = dataclasses.replace(Experiment.read(path), name=str(found[0]["experiment"]))
    planned = {run.identity for run in experiment.runs}
    found = [record for record in found if record["run"] in planned]
    return experiment, sorted(found, key=_order)


def shown_tables(experiment: Experiment, records: list[Record]) -> list[Table]:
    """The tables of the metrics that an experiment reports; of all metrics if it names none."""
    recorded = sorted({name for record in records for name in record["metrics"]})
    return tables(experiment, records, experiment.report.get("metrics", recorded))


def _order(record: Record) -> tuple[str, str, int, int]:
    return record["dataset"], record["method"], record["fold"], record["seed"]
