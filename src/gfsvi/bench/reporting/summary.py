"""Records as tables: means with standard errors, the paper's rules for bold face and ranks."""

import dataclasses
import functools
import math
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from gfsvi.bench.running.records import OK, Record

LOWER_IS_BETTER = (
    *("mse", "crps", "ece", "wasserstein2", "wasserstein2_root"),
    *("seconds", "fit_seconds", "prior_seconds"),
    *("steps_until_close", "seconds_until_close", "milliseconds_a_step"),
)


@dataclasses.dataclass(frozen=True)
class Cell:
    """Mean and standard error of a metric over the runs of a method on a data set."""

    mean: float
    error: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Cell":
        """Of the values of runs; one alone has no standard error."""
        count = len(values)
        error = float(np.std(values, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        return cls(float(np.mean(values)), error, count)

    def __str__(self) -> str:
        digits = 4 if abs(self.mean) < 0.01 else 3
        if math.isnan(self.error):
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} ± {self.error:.{digits}f}"

    def overlaps(self, other: "Cell") -> bool:
        """Whether the two error bars touch."""
        reach = np.nan_to_num(self.error) + np.nan_to_num(other.error)
        return bool(abs(self.mean - other.mean) <= reach)


@dataclasses.dataclass(frozen=True)
class Table:
    """One metric: methods are rows, data sets are columns.

    Args:
        metric: Its name.
        methods: Rows, in the order of the experiment.
        datasets: Columns, in the order of the experiment.
        cells: What was measured, by method and data set.
        published: What the paper has, by method and data set.
        ranked: The methods that are compared in the mean rank; all of them if none is named.
    """

    metric: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    published: dict[tuple[str, str], Cell]
    ranked: tuple[str, ...] = ()

    @property
    def sign(self) -> int:
        """1 where higher is better, else -1."""
        return -1 if self.metric in LOWER_IS_BETTER else 1

    @property
    def most_runs(self) -> int:
        """How many runs the fullest cell is the mean of."""
        return max((cell.count for cell in self.cells.values()), default=0)

    def ranks(self, dataset: str, methods: Iterable[str] | None = None) -> dict[str, int]:
        """The paper's ranks of the methods on a data set.

        1 for the best and all whose error bars overlap its own, 2 for the best of those that are
        left and all that overlap it, and so on.
        """
        chosen = self.methods if methods is None else tuple(methods)
        left = {m: self.cells[m, dataset] for m in chosen if (m, dataset) in self.cells}
        ranks: dict[str, int] = {}
        for rank in range(1, len(left) + 1):
            if not left:
                break
            best = max(left.values(), key=lambda cell: self.sign * cell.mean)
            first = [method for method, cell in left.items() if cell.overlaps(best)]
            ranks |= dict.fromkeys(first, rank)
            left = {method: cell for method, cell in left.items() if method not in first}
        return ranks

    def mean_ranks(self, methods: Iterable[str] | None = None) -> dict[str, float]:
        """Ranks averaged over the data sets on which every one of the methods was run."""
        chosen = (self.ranked or self.methods) if methods is None else tuple(methods)
        whole = [d for d in self.datasets if all((m, d) in self.cells for m in chosen)]
        by_dataset = [self.ranks(dataset, chosen) for dataset in whole]
        if not by_dataset:
            return {}
        return {m: float(np.mean([ranks[m] for ranks in by_dataset])) for m in chosen}

    def difference(self, method: str, dataset: str) -> float | None:
        """How much better than published, in the paper's standard errors."""
        ours, theirs = self.cells.get((method, dataset)), self.published.get((method, dataset))
        if ours is None or theirs is None:
            return None
        # The paper prints three decimals: a smaller error than their half is not known.
        error = max(np.nan_to_num(theirs.error), 0.0005)
        return float(self.sign * (ours.mean - theirs.mean) / error)


def tables(
    records: Iterable[Record],
    metrics: Sequence[str],
    methods: Sequence[str],
    datasets: Sequence[str],
    published: str | None = None,
    ranked: Sequence[str] = (),
) -> list[Table]:
    """A table for each metric, of the runs that went well."""
    good = [record for record in records if record["status"] == OK]
    return [_table(good, metric, methods, datasets, published, ranked) for metric in metrics]


def _table(
    records: list[Record],
    metric: str,
    methods: Sequence[str],
    datasets: Sequence[str],
    published: str | None,
    ranked: Sequence[str],
) -> Table:
    values: dict[tuple[str, str], list[float]] = {}
    for record in sorted(records, key=lambda record: (record["fold"], record["seed"])):
        if metric in record["metrics"]:
            place = (record["method"], record["dataset"])
            values.setdefault(place, []).append(record["metrics"][metric])
    cells = {
        (method, dataset): Cell.of(values[method, dataset])
        for method in methods
        for dataset in datasets
        if (method, dataset) in values
    }
    figures = _published().get(published or "", {}).get(metric, {})
    theirs = {
        (method, dataset): Cell(mean, error, 5)
        for method, by_dataset in figures.items()
        for dataset, (mean, error) in by_dataset.items()
    }
    # A row or column about which nothing is known would be noise.
    shown = tuple(m for m in methods if any((m, d) in cells for d in datasets))
    columns = tuple(d for d in datasets if any((m, d) in cells for m in methods))
    return Table(metric, shown, columns, cells, theirs, tuple(m for m in ranked if m in shown))


@functools.cache
def _published() -> dict[str, Any]:
    return tomllib.loads(files("gfsvi.bench.reporting").joinpath("published.toml").read_text())
