"""The report as Markdown."""

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting import texts
from gfsvi.bench.reporting.glance import MEANING, Glance, glance
from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.running.records import Record

FIGURE = "figure.png"


def markdown(experiment: Experiment, records: list[Record], tables: list[Table]) -> str:
    """The whole report; the figure, if there is one, is a file beside it."""
    lines = [f"# {experiment.title}", "", *_introduction(experiment, records)]
    lines.append(texts.note(experiment, tables))
    lines += _glance(glance(tables, experiment.report.get("glance", [])))
    for table in tables:
        better = texts.direction(table)
        title = texts.metric_name(table.metric)
        lines += ["", f"## {title}" if better is None else f"## {title} ({better})", ""]
        lines += _rows(table)
    worse = texts.worse_than_published(tables)
    if worse:
        title = f"## Worse than published by more than {texts.FAR:g} of the paper's standard errors"
        lines += ["", title, "", *(f"* {line}" for line in worse)]
    failed = texts.failures(experiment, records)
    if failed:
        lines += ["", "## Failed", "", *(f"* {line}" for line in failed)]
    return "\n".join(lines) + "\n"


def _introduction(experiment: Experiment, records: list[Record]) -> list[str]:
    text = experiment.report.get("text")
    lines = [] if text is None else [*str(text).strip().splitlines(), ""]
    if any(record.get("series") for record in records):
        lines = [f"![{experiment.title}]({FIGURE})", "", *lines]
    return [*lines, *texts.overview(experiment, records), ""]


def _rows(table: Table) -> list[str]:
    mean_ranks = table.mean_ranks()
    ranks = {dataset: table.ranks(dataset) for dataset in table.datasets}
    columns = [*table.datasets, *(["mean rank"] if mean_ranks else [])]
    rows = [["", *columns]]
    for method in table.methods:
        cells = [_cell(table, method, d, ranks[d].get(method)) for d in table.datasets]
        if mean_ranks:
            cells.append(f"{mean_ranks[method]:.2f}" if method in mean_ranks else "-")
        rows.append([method, *cells])
    return _lines([list(row) for row in zip(*rows, strict=True)] if table.is_long else rows)


def _glance(found: Glance | None) -> list[str]:
    if found is None:
        return []
    rows = [[name, *cells] for name, cells in found.rows.items()]
    return ["", "## At a glance", "", MEANING, "", *_lines([["", *found.methods], *rows])]


def _lines(rows: list[list[str]]) -> list[str]:
    header, *body = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    return [header, "|---" * len(rows[0]) + "|", *body]


def _cell(table: Table, method: str, dataset: str, rank: int | None) -> str:
    cell, theirs = table.cells.get((method, dataset)), table.published.get((method, dataset))
    if cell is None:
        return "-"
    text = f"**{cell}**" if rank == 1 else str(cell)
    missing = texts.missing_runs(cell, table.planned[dataset])
    if missing is not None:
        text += f" ({missing})"
    difference = table.difference(method, dataset)
    return text if theirs is None else f"{text} [{theirs}; {difference:+.1f}]"
