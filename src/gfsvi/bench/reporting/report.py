"""A report on the records of a folder: the same records make the same bytes."""

import csv
import dataclasses
import io
import os
from pathlib import Path

from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.bench.reporting.summary import Table, tables
from gfsvi.bench.running.records import OK, Record, Records
from gfsvi.storage.files import atomic_path

EXPERIMENT, FIGURE = "experiment.toml", "figure.png"
NOTE = (
    "Mean ± standard error over folds or seeds. Bold: the best, and all whose error bars overlap "
    "its own; ranks by the same rule, averaged over the data sets that every ranked method has. In "
    "brackets what the paper has, and how much better ours is in its standard errors."
)


def write_reports(folder: str | os.PathLike[str], page: str | None = None) -> list[Path]:
    """Write report.md, report.csv, report.tex and the page beside the records."""
    records = Records(folder)
    experiment, found = _read(records)
    shown = tables(
        found,
        experiment.report.get("metrics", _metrics(found)),
        tuple(experiment.methods),
        experiment.datasets,
        experiment.report.get("published"),
        experiment.report.get("ranked", ()),
    )
    from gfsvi.bench.reporting.page import html  # needs jinja2 and matplotlib

    contents = {
        records.folder / "report.md": markdown(experiment, found, shown),
        records.folder / "report.csv": as_csv(shown),
        records.folder / "report.tex": latex(shown),
        Path(page) if page else records.folder / "report.html": html(experiment, found, shown),
    }
    for path, content in contents.items():
        with atomic_path(path) as draft:
            draft.write_text(content, encoding="utf-8")
    return [*contents, *_figure(experiment, found, records.folder / FIGURE)]


def _figure(experiment: Experiment, found: list[Record], path: Path) -> list[Path]:
    """The picture of an experiment that has one."""
    from gfsvi.bench.reporting.figures import draw_figure  # needs matplotlib

    drawn = draw_figure(experiment, found)
    if drawn is None:
        return []
    with atomic_path(path) as draft:
        draft.write_bytes(drawn)
    return [path]


def _read(records: Records) -> tuple[Experiment, list[Record]]:
    path = records.folder / EXPERIMENT
    found = records.read()
    if not found or not path.exists():
        raise ExperimentError(
            f"expected records and {EXPERIMENT} in {records.folder}; got none. "
            "Name a folder that `gfsvi bench run` has written to."
        )
    experiment = dataclasses.replace(Experiment.read(path), name=str(found[0]["experiment"]))
    wanted = {run.identity for run in experiment.runs}
    found = [record for record in found if record["run"] in wanted]
    return experiment, sorted(found, key=_order)


def _order(record: Record) -> tuple[str, str, int, int]:
    return record["dataset"], record["method"], record["fold"], record["seed"]


def _metrics(records: list[Record]) -> list[str]:
    return sorted({name for record in records for name in record["metrics"]})


def _about(experiment: Experiment, records: list[Record]) -> list[str]:
    text = experiment.report.get("text")
    said = [] if text is None else [*str(text).strip().splitlines(), ""]
    if any(record.get("series") for record in records):
        said = [f"![{experiment.title}]({FIGURE})", "", *said]
    return [*said, *overview(experiment, records), ""]


def markdown(experiment: Experiment, records: list[Record], shown: list[Table]) -> str:
    """Tables for people who read text."""
    lines = [f"# {experiment.title}", "", *_about(experiment, records), NOTE]
    for table in shown:
        arrow = "higher" if table.sign > 0 else "lower"
        lines += ["", f"## {spoken(table.metric)} ({arrow} is better)", ""]
        lines += _markdown_rows(table)
    failed = [record for record in records if record["status"] != OK]
    if failed:
        lines += ["", "## Failed", ""]
        lines += [
            f"* {r['dataset']}, {r['method']}, fold {r['fold']}: {r.get('error')}" for r in failed
        ]
    return "\n".join(lines) + "\n"


def overview(experiment: Experiment, records: list[Record]) -> list[str]:
    """What was run, with which versions, and what of the data is only a part."""
    made = sum(record["status"] == OK for record in records)
    lines = [f"{made} of {len(experiment.runs)} runs, {len(records) - made} failed."]
    partial = {f"{n}: {what}" for r in records for n, what in r.get("partial", {}).items()}
    if partial:
        lines.append(f"Partial data: {'; '.join(sorted(partial))}.")
    environments = {
        f"gfsvi {r['version']}, JAX {e['jax']}, NumPy {e['numpy']}, Python {e['python']}, "
        f"{e['machine']} with {e['cores']} cores"
        for r in records
        if (e := r.get("environment"))
    }
    return [*lines, *(f"Made with {text}." for text in sorted(environments))]


def _markdown_rows(table: Table) -> list[str]:
    ranks = table.mean_ranks()
    lines = [f"| | {' | '.join(table.datasets)} | mean rank |"]
    lines.append("|---" * (len(table.datasets) + 2) + "|")
    by_dataset = {dataset: table.ranks(dataset) for dataset in table.datasets}
    for method in table.methods:
        cells = [
            _markdown_cell(table, method, dataset, by_dataset[dataset].get(method))
            for dataset in table.datasets
        ]
        rank = f"{ranks[method]:.2f}" if method in ranks else "-"
        lines.append(f"| {method} | {' | '.join(cells)} | {rank} |")
    return lines


def _markdown_cell(table: Table, method: str, dataset: str, rank: int | None) -> str:
    cell, theirs = table.cells.get((method, dataset)), table.published.get((method, dataset))
    if cell is None:
        return "-"
    text = f"**{cell}**" if rank == 1 else str(cell)
    if cell.count < table.most_runs:
        text += f" ({cell.count} of {table.most_runs} runs)"
    difference = table.difference(method, dataset)
    return text if theirs is None else f"{text} [{theirs}; {difference:+.1f}]"


def as_csv(shown: list[Table]) -> str:
    """One row a cell."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    columns = ["metric", "dataset", "method", "mean", "standard_error", "runs"]
    columns += ["published_mean", "published_standard_error", "better_by_standard_errors"]
    writer.writerow(columns)
    for table in shown:
        for (method, dataset), cell in sorted(table.cells.items()):
            theirs = table.published.get((method, dataset))
            known = ["", ""] if theirs is None else [theirs.mean, theirs.error]
            difference = table.difference(method, dataset)
            row = [table.metric, dataset, method, cell.mean, cell.error, cell.count, *known]
            writer.writerow([*row, "" if difference is None else round(difference, 3)])
    return file.getvalue()


def latex(shown: list[Table]) -> str:
    """Tables as in the paper: data sets down, methods across."""
    parts = []
    for table in shown:
        lines = [f"% {spoken(table.metric)}", f"\\begin{{tabular}}{{l{'r' * len(table.methods)}}}"]
        lines += ["\\hline", _latex_row("", [name.replace("_", "\\_") for name in table.methods])]
        lines.append("\\hline")
        for dataset in table.datasets:
            ranks = table.ranks(dataset)
            cells = [
                _latex_cell(table, method, dataset, ranks.get(method)) for method in table.methods
            ]
            lines.append(_latex_row(dataset.replace("_", "\\_"), cells))
        ranks = table.mean_ranks()
        shown_ranks = [f"{ranks[m]:.3f}" if m in ranks else "-" for m in table.methods]
        lines += ["\\hline", _latex_row("Mean rank", shown_ranks), "\\hline", "\\end{tabular}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _latex_row(name: str, cells: list[str]) -> str:
    return f"{' & '.join([name, *cells])} \\\\"


def _latex_cell(table: Table, method: str, dataset: str, rank: int | None) -> str:
    cell = table.cells.get((method, dataset))
    if cell is None:
        return "-"
    text = str(cell).replace("±", "\\pm")
    return f"$\\mathbf{{{text}}}$" if rank == 1 else f"${text}$"


def spoken(metric: str) -> str:
    """A metric's name for people."""
    names = {"mse": "Mean squared error", "ood_accuracy": "Out-of-distribution accuracy"}
    names["wasserstein2"] = "Squared Wasserstein-2 distance"
    names["ece"] = "Expected calibration error"
    return names.get(metric, metric.replace("_", " ").capitalize())
