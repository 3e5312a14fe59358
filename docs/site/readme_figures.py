"""The figures of the README's table, from the records that its commands leave.

python docs/site/readme_figures.py    # prints what each row has to say, and fails if one does not
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting.summary import Table, tables
from gfsvi.bench.running.records import Records

ROOT = Path(__file__).parents[2]
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "all nine")


def main() -> int:
    """Print every row's figures; 1 if the README has others."""
    num_missing = 0
    for command, figures in ROWS.items():
        row = row_of(command)
        print(command)
        for figure in figures():
            is_there = figure in row
            num_missing += not is_there
            print(f"    {'' if is_there else 'NOT THERE: '}{figure}")
    return min(1, num_missing)


def row_of(command: str) -> str:
    """The row of the README's table that has this command."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith("|") and f"`{command}" in line]
    if len(found) != 1:
        raise ValueError(f"expected one row of the README with `{command}`; got {len(found)}.")
    return found[0]


def _table(name: str, metric: str) -> Table:
    experiment = Experiment.read(ROOT / "experiments" / f"{name}.toml")
    return tables(experiment, Records(ROOT / "results" / name).read(), [metric])[0]


def _means(name: str, metric: str, method: str, datasets: tuple[str, ...]) -> list[float]:
    cells = _table(name, metric).cells
    return [cells[method, dataset].mean for dataset in datasets]


def _tables() -> Iterator[str]:
    four = ("boston", "concrete", "energy", "yacht")
    density = _means("tables", "log_predictive_density", "gfsvi", four)
    mse = _means("tables", "mse", "gfsvi", four)
    coverage = _means("tables", "coverage", "gfsvi", four)
    yield ", ".join(f"{value:.3f}" for value in density)
    yield ", ".join(f"{value:.3f}" if value >= 0.01 else f"{value:.4f}" for value in mse)
    yield ", ".join(f"{value:.2f}" for value in coverage)


def _regression() -> Iterator[str]:
    """On how many tables the row called gfsvi is at most one standard error below the paper."""
    words = {
        "expected_log_likelihood": "by expected log-likelihood on ",
        "mse": "by squared error on ",
        "ood_accuracy": "by out-of-distribution accuracy on ",
    }
    for metric, start in words.items():
        table = _table("regression", metric)
        differences = {d: table.difference("gfsvi", d) for d in table.datasets}
        missed = [d for d, value in differences.items() if value is None or value < -1]
        count = NUMBERS[len(differences) - len(missed)]
        yield start + count


def _images() -> Iterator[str]:
    """Means over the seeds that are recorded: one of MNIST, three of Fashion-MNIST."""
    text = (ROOT / "results/images/records.jsonl").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in map(json.loads, text.splitlines()):
        if record["method"] == "gfsvi_kmnist" and record["status"] == "ok":
            for metric, value in record["metrics"].items():
                found[record["dataset"], metric].append(value)
    for metric in ("accuracy", "expected_log_likelihood", "ood_accuracy"):
        means = (fmean(found[name, metric]) for name in ("mnist", "fashion_mnist"))
        yield ", ".join(f"{value:.3f}" for value in means)


def _wasserstein() -> Iterator[str]:
    table = _table("wasserstein", "wasserstein2")
    largest = max(table.cells["gfsvi", dataset].mean for dataset in table.datasets)
    sparse = [table.cells["sparse_gp", dataset].mean for dataset in table.datasets]
    published = [table.published["gfsvi", dataset].mean for dataset in table.datasets]
    yield f"at most {largest:.5f} in closed form"
    yield f"sparse process {min(sparse):.4f} to {max(sparse):.4f}"
    yield f"paper {min(published):.4f} to {max(published):.3f}"


def _ocean() -> Iterator[str]:
    text = (ROOT / "results/ocean/records.jsonl").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in map(json.loads, text.splitlines()):
        for metric, value in record["metrics"].items():
            found[record["method"], metric].append(value)
    for metric, digits in (("mse", 4), ("log_predictive_density", 3), ("mean_std", 3)):
        ours, exact = (fmean(found[name, metric]) for name in ("gfsvi", "exact_gp"))
        yield f"{ours:.{digits}f} ("
        yield f"{exact:.{digits}f})"


def _flights() -> Iterator[str]:
    """The last measurement."""
    found = json.loads(
        (ROOT / "results/flights.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    )
    yield f"fitted in {found['fit']['seconds']:.0f} s and "
    yield f"{found['fit']['peak_megabytes'] / 1024:.1f} GiB"
    yield f"predicted in {found['predict']['seconds']:.0f} s"
    every = (found["evaluate"]["scores"], found["peers"]["trees"], found["peers"]["linear"])
    for scores, words in zip(every, ("a squared error of ", "", ""), strict=True):
        yield f"{scores['log_predictive_density']:.2f} and {words}{scores['mse']:.0f}"


ROWS: dict[str, Callable[[], Iterator[str]]] = {
    "gfsvi bench run experiments/tables.toml --output results/tables --method gfsvi`": _tables,
    "gfsvi bench run experiments/regression.toml": _regression,
    "gfsvi bench run experiments/images.toml": _images,
    "gfsvi bench run experiments/wasserstein.toml": _wasserstein,
    "gfsvi bench run experiments/ocean.toml": _ocean,
    "python -m benchmarks.flights": _flights,
}

if __name__ == "__main__":
    sys.exit(main())
