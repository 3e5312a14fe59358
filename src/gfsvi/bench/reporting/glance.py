"""A report at a glance: how often each method is best, over all data sets."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.reporting.texts import metric_name

NEAR = 0.05
"""A loss within this share of the smallest counts as near the best."""
MEANING = (
    "Over the data sets on which all methods have all planned runs. Best or tied: no other method "
    "is better by more than both error bars. Within 5 %: the loss is at most 1.05 times the "
    "smallest."
)


class Glance(NamedTuple):
    """Methods as columns, and what each of them has in a row."""

    methods: tuple[str, ...]
    rows: dict[str, list[str]]


def glance(tables: list[Table], metrics: list[str]) -> Glance | None:
    """Mean ranks and shares for each of the metrics; None if there is nothing to compare."""
    by_metric = {table.metric: table for table in tables}
    chosen = [by_metric[name] for name in metrics if name in by_metric]
    chosen = [table for table in chosen if _shared(table)]
    if not chosen:
        return None
    methods = tuple(m for m in chosen[0].methods if all(m in t.methods for t in chosen))
    rows: dict[str, list[str]] = {}
    for table in chosen:
        found = _of_losses(table) if table.sign else _of_description(table)
        name = metric_name(table.metric)
        for row, cells in found.items():
            rows[f"{name}: {row}"] = [cells[method] for method in methods]
    return Glance(methods, rows)


def is_near_best(table: Table, method: str, dataset: str) -> bool:
    """Whether a loss is at most 1.05 times the smallest."""
    smallest = min(table.cells[m, dataset].mean for m in table.methods)
    return table.cells[method, dataset].mean <= (1 + NEAR) * smallest


def _shared(table: Table) -> list[str]:
    """The data sets on which all methods can be compared; coverage needs its runs as well."""
    return [
        dataset
        for dataset in table.datasets
        if len(table.methods) > 1 and all(table.is_whole(m, dataset) for m in table.methods)
    ]


def _of_losses(table: Table) -> dict[str, dict[str, str]]:
    """Rows by name, and in them cells by method."""
    datasets = _shared(table)
    ranks = {dataset: table.ranks(dataset) for dataset in datasets}

    def counted(is_so: Callable[[str, str], bool]) -> dict[str, str]:
        return {
            method: f"{sum(is_so(method, dataset) for dataset in datasets)} of {len(datasets)}"
            for method in table.methods
        }

    rows = {
        "mean rank": {
            method: f"{np.mean([ranks[dataset][method] for dataset in datasets]):.2f}"
            for method in table.methods
        },
        "best or tied": counted(lambda method, dataset: ranks[dataset][method] == 1),
    }
    if table.sign < 0:
        rows["within 5 %"] = counted(lambda m, dataset: is_near_best(table, m, dataset))
    return rows


def _of_description(table: Table) -> dict[str, dict[str, str]]:
    means = {
        method: [table.cells[method, dataset].mean for dataset in _shared(table)]
        for method in table.methods
    }
    ways = {"mean": np.mean, "lowest": np.min, "highest": np.max}
    return {
        name: {method: f"{way(values):.3f}" for method, values in means.items()}
        for name, way in ways.items()
    }
