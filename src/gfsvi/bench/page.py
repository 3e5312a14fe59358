"""The report as one page, with nothing outside it."""

import functools
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from gfsvi.bench import charts
from gfsvi.bench.experiment import Experiment
from gfsvi.bench.records import OK, Record
from gfsvi.bench.report import NOTE, overview, spoken
from gfsvi.bench.summary import Table


def html(experiment: Experiment, records: list[Record], shown: list[Table]) -> str:
    """The page; whatever comes from records or experiments is escaped."""
    return _template().render(
        experiment=experiment,
        overview=overview(experiment, records),
        note=NOTE,
        style=Markup(files("gfsvi.report").joinpath("page.css").read_text(encoding="utf-8")),
        sections=[_section(table, records) for table in shown],
        failed=[record for record in records if record["status"] != OK],
    )


def _section(table: Table, records: list[Record]) -> dict[str, Any]:
    title = spoken(table.metric)
    overall = (
        charts.critical_difference(table, records),
        charts.time_against_quality(table, records),
    )
    return {
        "title": title,
        "better": "higher" if table.sign > 0 else "lower",
        "table": table,
        "ranks": {dataset: table.ranks(dataset) for dataset in table.datasets},
        "mean_ranks": table.mean_ranks(),
        "overall": [Markup(drawn) for drawn in overall if drawn is not None],
        "runs": [
            Markup(charts.every_run(table, records, dataset, title)) for dataset in table.datasets
        ],
    }


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files("gfsvi.bench").joinpath("page.html.j2").read_text(encoding="utf-8")
    return environment.from_string(source)
