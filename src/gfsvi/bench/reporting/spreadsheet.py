"""The tables of a report as CSV."""

import csv
import io
import math

from gfsvi.bench.reporting.summary import Cell, Table

COLUMNS = (
    *("metric", "dataset", "method", "mean", "standard_error", "runs", "planned_runs"),
    *("published_mean", "published_standard_error", "better_by_standard_errors"),
)


def comma_separated(tables: list[Table]) -> str:
    """One row per cell of each table; unknown values are empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for table in tables:
        for (method, dataset), cell in sorted(table.cells.items()):
            difference = table.difference(method, dataset)
            row = [
                table.metric,
                dataset,
                method,
                *_numbers(cell),
                cell.count,
                table.planned[dataset],
            ]
            row += _numbers(table.published.get((method, dataset)))
            writer.writerow([*row, "" if difference is None else round(difference, 3)])
    return file.getvalue()


def _numbers(cell: Cell | None) -> list[float | str]:
    if cell is None:
        return ["", ""]
    return [cell.mean, "" if math.isnan(cell.error) else cell.error]
