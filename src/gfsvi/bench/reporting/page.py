"""The report as one page, with nothing outside it."""

from typing import Any

from markupsafe import Markup

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting import charts
from gfsvi.bench.reporting.report import NOTE, overview, spoken
from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.running.records import OK, Record
from gfsvi.pages import template


def html(experiment: Experiment, records: list[Record], shown: list[Table]) -> str:
    """The page; whatever comes from records or experiments is escaped."""
    return template.render(
        "gfsvi.bench.reporting",
        "page.html.j2",
        experiment=experiment,
        overview=overview(experiment, records),
        note=NOTE,
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
