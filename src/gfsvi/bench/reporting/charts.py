"""Charts of an experiment: every run, time against quality, and which methods differ."""

import math

import numpy as np
from matplotlib.axes import Axes

from gfsvi.bench.reporting.summary import Table
from gfsvi.bench.running.records import OK, Record
from gfsvi.pages.pictures import BLUE, FAINT, INK, MUTED, ORANGE, picture


def every_run(table: Table, records: list[Record], dataset: str, title: str) -> str:
    """One dot per run, a line at the mean, and a diamond at the paper's mean."""
    methods = [m for m in table.methods if (m, dataset) in table.cells]
    values = {
        method: [
            record["metrics"][table.metric]
            for record in records
            if (record["method"], record["dataset"]) == (method, dataset)
            and record["status"] == OK
            and table.metric in record["metrics"]
        ]
        for method in methods
    }

    def draw(axes: Axes) -> None:
        for height, method in enumerate(reversed(methods)):
            axes.plot(values[method], [height] * len(values[method]), "o", color=BLUE, alpha=0.6)
            mean = table.cells[method, dataset].mean
            axes.plot([mean, mean], [height - 0.3, height + 0.3], color=INK)
            theirs = table.published.get((method, dataset))
            if theirs is not None:
                axes.plot([theirs.mean], [height], "D", color=ORANGE, fillstyle="none")
        axes.set_yticks(range(len(methods)), list(reversed(methods)))
        axes.set_ylim(-0.7, len(methods) - 0.3)
        axes.set_title(dataset, color=MUTED, fontsize=9.5)
        axes.set_xlabel(title)

    said = "; ".join(f"{m} {table.cells[m, dataset]}" for m in methods)
    name = f"runs-{table.metric}-{dataset}"
    return picture(name, f"{title} on {dataset}: {said}", draw, (4.6, 0.6 + 0.28 * len(methods)))


def time_against_quality(table: Table, records: list[Record]) -> str | None:
    """Mean rank against the mean time of a run, over the data sets that all methods share."""
    ranks = table.mean_ranks()
    if len(ranks) < 2:
        return None
    shared = table.common_datasets(ranks)
    seconds = {
        method: float(
            np.mean([r["seconds"] for r in records if _is(r, method) and r["dataset"] in shared])
        )
        for method in ranks
    }

    def draw(axes: Axes) -> None:
        for method, rank in ranks.items():
            axes.plot([seconds[method]], [rank], "o", color=BLUE)
            height = -11 if _is_crowded(method, ranks, seconds) else 4
            place = {"xytext": (5, height), "textcoords": "offset points", "fontsize": 8.5}
            axes.annotate(method, (seconds[method], rank), **place)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(lambda value, _: "")
        axes.margins(x=0.2, y=0.15)
        axes.invert_yaxis()
        axes.set_xlabel("seconds per run, including compilation")
        axes.set_ylabel("mean rank (1 is best)")

    said = "; ".join(f"{m}: {seconds[m]:.0f} s, rank {ranks[m]:.2f}" for m in ranks)
    return picture(f"time-{table.metric}", said, draw, (5.6, 3.6))


def _is_crowded(method: str, ranks: dict[str, float], seconds: dict[str, float]) -> bool:
    """Whether the label of a nearby method would overlap with this one."""
    close = [
        other
        for other in ranks
        if abs(ranks[other] - ranks[method]) < 0.2
        and seconds[other] < seconds[method] < 2 * seconds[other]
    ]
    return len(close) % 2 == 1


def critical_difference(table: Table, records: list[Record]) -> str | None:
    """Average ranks over all runs, with the critical difference of Nemenyi's test."""
    ranks, num_blocks = average_ranks(table, records)
    if len(ranks) < 3 or num_blocks < 2:
        return None
    distance = nemenyi_distance(len(ranks), num_blocks)
    ordered = sorted(ranks.items(), key=lambda item: item[1])

    def draw(axes: Axes) -> None:
        for height, (_, rank) in enumerate(reversed(ordered)):
            reach = [rank - distance / 2, rank + distance / 2]
            axes.plot(reach, [height, height], color=FAINT, linewidth=5, solid_capstyle="butt")
            axes.plot([rank], [height], "o", color=BLUE)
        axes.set_yticks(range(len(ordered)), [method for method, _ in reversed(ordered)])
        axes.axvline(ordered[0][1] + distance / 2, color=ORANGE, linestyle="--", linewidth=1)
        axes.set_xlabel(f"average rank over {num_blocks} runs (bars that touch do not differ, 5 %)")

    said = "; ".join(f"{method} {rank:.2f}" for method, rank in ordered)
    size = (5.6, 0.8 + 0.28 * len(ordered))
    return picture(f"difference-{table.metric}", f"{said}; distance {distance:.2f}", draw, size)


def average_ranks(table: Table, records: list[Record]) -> tuple[dict[str, float], int]:
    """Plain ranks averaged over the folds and seeds that all methods have, and their number."""
    blocks: dict[tuple[str, int, int], dict[str, float]] = {}
    for record in records:
        if record["status"] == OK and table.metric in record["metrics"]:
            place = (record["dataset"], record["fold"], record["seed"])
            blocks.setdefault(place, {})[record["method"]] = record["metrics"][table.metric]
    whole = [block for block in blocks.values() if all(m in block for m in table.methods)]
    if not whole or table.sign == 0:
        return {}, 0
    values = np.array([[table.sign * block[m] for m in table.methods] for block in whole])
    # Rank of a value: one, plus the number of better values, plus half of the ties.
    better = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks = (better + (equal + 1) / 2).mean(axis=0)
    return dict(zip(table.methods, map(float, ranks), strict=True)), len(whole)


def nemenyi_distance(num_methods: int, num_blocks: int, level: float = 0.05) -> float:
    """Critical difference of average ranks (Demsar 2006, section 3.2.2)."""
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - level, num_methods, math.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(num_methods * (num_methods + 1) / (6 * num_blocks)))


def _is(record: Record, method: str) -> bool:
    return record["method"] == method and record["status"] == OK
