"""A report at a glance: how often each method is best, over all data sets."""

from typing import NamedTuple

import numpy as np

from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.reporting.texts import metric_name

NEAR = 0.05
"""A loss within this share of the smallest of the others counts as near the best."""
MEANING = (
    "Over the data sets on which all methods have all planned runs. Best or tied: no other method "
    "is better by more than both error bars. Within 5 %: the loss is at most 1.05 times the "
    "smallest of the other methods."
)


class Glance(NamedTuple):
    """Columns, and what each method has in them."""

    columns: list[str]
    rows: dict[str, list[str]]


def glance(tables: list[Table], metrics: list[str]) -> Glance | None:
    """Mean ranks and shares for each of the metrics; None if there is nothing to compare."""
    chosen = [table for table in tables if table.metric in metrics and _shared(table)]
    if not chosen:
        return None
    parts = [_of_losses(table) if table.sign else _of_description(table) for table in chosen]
    methods = [m for m in chosen[0].methods if all(m in part.rows for part in parts)]
    return Glance(
        [column for part in parts for column in part.columns],
        {method: [cell for part in parts for cell in part.rows[method]] for method in methods},
    )


def is_near_best(table: Table, method: str, dataset: str) -> bool:
    """Whether a loss is at most 1.05 times the smallest of the other methods."""
    others = [table.cells[m, dataset].mean for m in table.methods if m != method]
    return table.cells[method, dataset].mean <= (1 + NEAR) * min(others)


def _shared(table: Table) -> list[str]:
    """The data sets on which all methods can be compared; coverage needs its runs as well."""
    return [
        dataset
        for dataset in table.datasets
        if len(table.methods) > 1 and all(table.is_whole(m, dataset) for m in table.methods)
    ]


def _of_losses(table: Table) -> Glance:
    name, datasets = metric_name(table.metric), _shared(table)
    ranks = {dataset: table.ranks(dataset) for dataset in datasets}
    rows: dict[str, list[str]] = {}
    for method in table.methods:
        first = sum(ranks[dataset][method] == 1 for dataset in datasets)
        mean = np.mean([ranks[dataset][method] for dataset in datasets])
        rows[method] = [f"{mean:.2f}", f"{first} of {len(datasets)}"]
        if table.sign < 0:
            near = sum(is_near_best(table, method, dataset) for dataset in datasets)
            rows[method].append(f"{near} of {len(datasets)}")
    columns = [f"{name}: mean rank", "best or tied", "within 5 %"]
    return Glance(columns[: 2 + (table.sign < 0)], rows)


def _of_description(table: Table) -> Glance:
    rows: dict[str, list[str]] = {}
    for method in table.methods:
        values = [table.cells[method, dataset].mean for dataset in _shared(table)]
        rows[method] = [f"{np.mean(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}"]
    return Glance([f"{metric_name(table.metric)}: mean", "lowest", "highest"], rows)
