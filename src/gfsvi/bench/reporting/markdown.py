"""The report as Markdown."""

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting import texts
from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.running.records import Record

FIGURE = "figure.png"


def markdown(experiment: Experiment, records: list[Record], tables: list[Table]) -> str:
    """The whole report; the figure, if there is one, is a file beside it."""
    lines = [f"# {experiment.title}", "", *_introduction(experiment, records)]
    lines.append(texts.note(experiment, tables))
    for table in tables:
        better = texts.direction(table)
        title = texts.metric_name(table.metric)
        lines += ["", f"## {title}" if better is None else f"## {title} ({better})", ""]
        lines += _rows(table)
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
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for method in table.methods:
        cells = [_cell(table, method, d, ranks[d].get(method)) for d in table.datasets]
        if mean_ranks:
            cells.append(f"{mean_ranks[method]:.2f}" if method in mean_ranks else "-")
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def _cell(table: Table, method: str, dataset: str, rank: int | None) -> str:
    cell, theirs = table.cells.get((method, dataset)), table.published.get((method, dataset))
    if cell is None:
        return "-"
    text = f"**{cell}**" if rank == 1 else str(cell)
    missing = texts.missing_runs(cell, table)
    if missing is not None:
        text += f" ({missing})"
    difference = table.difference(method, dataset)
    return text if theirs is None else f"{text} [{theirs}; {difference:+.1f}]"
