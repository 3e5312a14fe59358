"""The tables of a report as LaTeX."""

from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.reporting.texts import metric_name


def latex(tables: list[Table]) -> str:
    """Tables in the paper's layout, with data sets as rows and methods as columns."""
    return "\n\n".join("\n".join(_lines(table)) for table in tables) + "\n"


def _lines(table: Table) -> list[str]:
    lines = [f"% {metric_name(table.metric)}"]
    lines += [f"\\begin{{tabular}}{{l{'r' * len(table.methods)}}}", "\\hline"]
    lines += [_row("", [_escaped(method) for method in table.methods]), "\\hline"]
    for dataset in table.datasets:
        ranks = table.ranks(dataset)
        cells = [_cell(table, method, dataset, ranks.get(method)) for method in table.methods]
        lines.append(_row(_escaped(dataset), cells))
    mean_ranks = table.mean_ranks()
    if mean_ranks:
        cells = [f"{mean_ranks[m]:.3f}" if m in mean_ranks else "-" for m in table.methods]
        lines += ["\\hline", _row("Mean rank", cells)]
    return [*lines, "\\hline", "\\end{tabular}"]


def _row(name: str, cells: list[str]) -> str:
    return f"{' & '.join([name, *cells])} \\\\"


def _cell(table: Table, method: str, dataset: str, rank: int | None) -> str:
    cell = table.cells.get((method, dataset))
    if cell is None:
        return "-"
    text = str(cell).replace("±", "\\pm")
    return f"$\\mathbf{{{text}}}$" if rank == 1 else f"${text}$"


def _escaped(name: str) -> str:
    return name.replace("_", "\\_")
