"""The report as one self-contained HTML page."""

import dataclasses

from markupsafe import Markup

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting import charts, texts
from gfsvi.bench.reporting.glance import MEANING, glance
from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.running.records import Record
from gfsvi.pages import template


@dataclasses.dataclass(frozen=True)
class Section:
    """What the page shows of one metric."""

    title: str
    better: str | None
    table: Table
    ranks: dict[str, dict[str, int]]
    mean_ranks: dict[str, float]
    overall: list[Markup]
    runs: list[Markup]


def html(experiment: Experiment, records: list[Record], tables: list[Table]) -> str:
    """Render the page; everything from records or experiments is escaped."""
    return template.render(
        "gfsvi.bench.reporting",
        "page.html.j2",
        experiment=experiment,
        overview=texts.overview(experiment, records),
        note=texts.note(experiment, tables),
        glance=glance(tables, experiment.report.get("glance", [])),
        meaning=MEANING,
        sections=[_section(table, records) for table in tables],
        missing_runs=texts.missing_runs,
        worse=texts.worse_than_published(tables),
        far=f"{texts.FAR:g}",
        failures=texts.failures(experiment, records),
    )


def _section(table: Table, records: list[Record]) -> Section:
    title = texts.metric_name(table.metric)
    overall = (
        charts.critical_difference(table, records),
        charts.time_against_quality(table, records),
    )
    runs = [charts.every_run(table, records, dataset, title) for dataset in table.datasets]
    return Section(
        title,
        texts.direction(table),
        table,
        ranks={dataset: table.ranks(dataset) for dataset in table.datasets},
        mean_ranks=table.mean_ranks(),
        overall=[Markup(chart) for chart in overall if chart is not None],
        runs=[Markup(chart) for chart in runs],
    )
