"""Tables of means and standard errors, with the paper's rules for bold face and ranks."""

import dataclasses
import functools
import math
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files

import numpy as np

from gfsvi.bench.experiment import Experiment, Settings
from gfsvi.bench.running.records import OK, Record

LOWER_IS_BETTER = (
    *("mse", "crps", "ece", "mean_error", "interval_score", "log_loss"),
    *("wasserstein2", "wasserstein2_root", "wasserstein2_inside"),
    *("seconds", "fit_seconds", "predict_seconds", "prior_seconds"),
    *("steps_until_close", "seconds_until_close", "milliseconds_a_step"),
)
DESCRIPTIVE = (
    *("coverage", "coverage_99", "noise", "exact_std", "mean_std", "std_in_gap", "std_at_data"),
    *("roughness", "rank", "num_for_99_percent", "share_seen_at_50", "largest_over_smallest_gamma"),
    *("entropy_at_data", "entropy_far_away", "entropy_known", "entropy_unknown"),
    *("entropy_upright", "entropy_at_right_angle", "num_steps", "best_step"),
)
"""Metrics of which neither higher nor lower values are better."""
Place = tuple[str, str]
"""A method and a data set."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """Mean and standard error of a metric over the runs of a method on a data set."""

    mean: float
    error: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Cell":
        """Summarise the values of runs; a single run has no standard error."""
        count = len(values)
        error = float(np.std(values, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        return cls(float(np.mean(values)), error, count)

    def __str__(self) -> str:
        digits = 4 if abs(self.mean) < 0.01 else 3
        if math.isnan(self.error):
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} ± {self.error:.{digits}f}"

    def overlaps(self, other: "Cell") -> bool:
        """Whether the error bars of two cells touch; never true without error bars."""
        return bool(abs(self.mean - other.mean) <= self.error + other.error)


@dataclasses.dataclass(frozen=True)
class Table:
    """The values of one metric, with methods as rows and data sets as columns.

    Args:
        metric: Name of the metric.
        methods: Rows, in the order of the experiment.
        datasets: Columns, in the order of the experiment.
        cells: Measured values, by method and data set.
        published: Values in the paper, by method and data set.
        planned: Number of planned runs per cell, by data set.
        ranked: Methods compared in the mean rank; all of them if empty.
    """

    metric: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: dict[Place, Cell]
    published: dict[Place, Cell]
    planned: dict[str, int]
    ranked: tuple[str, ...] = ()

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better, 0 if the metric only describes."""
        if self.metric in DESCRIPTIVE:
            return 0
        return -1 if self.metric in LOWER_IS_BETTER else 1

    def is_comparable(self, method: str, dataset: str) -> bool:
        """Whether a cell can be ranked: it has all planned runs, and at least two."""
        return self.sign != 0 and self.is_whole(method, dataset)

    def is_whole(self, method: str, dataset: str) -> bool:
        """Whether a cell has all planned runs, and at least two."""
        cell = self.cells.get((method, dataset))
        return cell is not None and cell.count >= max(2, self.planned[dataset])

    @property
    def is_long(self) -> bool:
        """Whether it is easier to read with data sets as rows, because there are more of them."""
        return len(self.datasets) > len(self.methods)

    def ranks(self, dataset: str, methods: Iterable[str] | None = None) -> dict[str, int]:
        """The paper's ranks of the comparable methods on a data set.

        Rank 1 goes to the best method and to all whose error bars overlap with its own, rank 2 to
        the best of the remaining methods and to all that overlap with it, and so on.
        """
        chosen = self.methods if methods is None else tuple(methods)
        left = {m: self.cells[m, dataset] for m in chosen if self.is_comparable(m, dataset)}
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
        """Ranks averaged over the data sets on which all ranked methods are comparable.

        Methods that are comparable on no data set are not ranked.
        """
        wanted = (self.ranked or self.methods) if methods is None else tuple(methods)
        chosen = [m for m in wanted if any(self.is_comparable(m, d) for d in self.datasets)]
        by_dataset = [self.ranks(dataset, chosen) for dataset in self.common_datasets(chosen)]
        if len(chosen) < 2 or not by_dataset:
            return {}
        return {m: float(np.mean([ranks[m] for ranks in by_dataset])) for m in chosen}

    def common_datasets(self, methods: Iterable[str]) -> list[str]:
        """The data sets on which all of the methods are comparable."""
        chosen = tuple(methods)
        return [d for d in self.datasets if all(self.is_comparable(m, d) for m in chosen)]

    def difference(self, method: str, dataset: str) -> float | None:
        """How much better a cell is than published, in standard errors of the paper."""
        ours, theirs = self.cells.get((method, dataset)), self.published.get((method, dataset))
        if ours is None or theirs is None:
            return None
        # The paper prints three decimals, so errors below half of the last one are unknown.
        error = max(np.nan_to_num(theirs.error), 0.0005)
        return float(self.sign * (ours.mean - theirs.mean) / error)


def below_published(table: Table, num_errors: float) -> list[tuple[str, str, float]]:
    """Method, data set and difference of the cells that are this far below the paper's."""
    differences = {
        (method, dataset): table.difference(method, dataset)
        for method in table.methods
        for dataset in table.datasets
    }
    return [
        (*place, difference)
        for place, difference in differences.items()
        if difference is not None and difference < -num_errors
    ]


def tables(
    experiment: Experiment, records: Iterable[Record], metrics: Sequence[str]
) -> list[Table]:
    """One table per metric, of the runs that succeeded."""
    good = [record for record in records if record["status"] == OK]
    good.sort(key=lambda record: (record["fold"], record["seed"]))
    return [_table(experiment, good, metric) for metric in metrics]


def _table(experiment: Experiment, records: list[Record], metric: str) -> Table:
    values: dict[Place, list[float]] = {}
    for record in records:
        if metric in record["metrics"]:
            place = (record["method"], record["dataset"])
            values.setdefault(place, []).append(record["metrics"][metric])
    methods, datasets = tuple(experiment.methods), experiment.datasets
    places = [(m, d) for m in methods for d in datasets if (m, d) in values]
    # Rows and columns without any value are left out.
    rows = tuple(m for m in methods if any(m == method for method, _ in places))
    columns = tuple(d for d in datasets if any(d == dataset for _, dataset in places))
    return Table(
        metric,
        rows,
        columns,
        {place: Cell.of(values[place]) for place in places},
        _published(experiment.report, metric),
        {dataset: experiment.runs_of(dataset) for dataset in datasets},
        tuple(m for m in experiment.report.get("ranked", ()) if m in rows),
    )


def _published(report: Settings, metric: str) -> dict[Place, Cell]:
    """The paper's values, also for methods that have another name there."""
    figures = _published_tables().get(report.get("published", ""), {}).get(metric, {})
    renamed = {
        label: figures[theirs]
        for label, theirs in report.get("published_as", {}).items()
        if theirs in figures
    }
    return {
        (method, dataset): Cell(mean, error, 5)
        for method, by_dataset in (figures | renamed).items()
        for dataset, (mean, error) in by_dataset.items()
    }


@functools.cache
def _published_tables() -> Settings:
    return tomllib.loads(files("gfsvi.bench.reporting").joinpath("published.toml").read_text())
