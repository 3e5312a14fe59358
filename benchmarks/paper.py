"""What is missing of the paper's tables and figures, how long it takes, and with --run the runs.

python -m benchmarks.paper            # says what is missing
python -m benchmarks.paper --run      # makes it, the quickest runs first, then the reports

Seconds are those of records of the same method on the same data set, or else the most that the
method took on another one, or else unknown; `at least` says that some are.
"""

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from gfsvi.bench.experiment import Experiment, Run
from gfsvi.bench.running.records import OK, Record, Records
from gfsvi.bench.running.runner import missing

ROOT = Path(__file__).parents[1]
TABLES = ("regression", "wasserstein", "ocean", "ocean_noise", "images", "images_quick")


class Left(NamedTuple):
    """Runs of an experiment that have no record.

    Args:
        name: Name of the experiment.
        planned: Number of all runs.
        seconds: Expected seconds of the processor of missing runs, by method; of runs whose
            method has no record, nothing is known.
        unknown: Number of missing runs, by method without any record.
    """

    name: str
    planned: int
    seconds: dict[str, list[float]]
    unknown: dict[str, int]

    @property
    def num_runs(self) -> int:
        return sum(map(len, self.seconds.values())) + sum(self.unknown.values())

    @property
    def hours(self) -> float:
        return sum(map(sum, self.seconds.values())) / 3600

    def lines(self) -> list[str]:
        """The experiment in one line, and one for each method that has runs left."""
        if not self.num_runs:
            return [f"{self.name}: {self.planned} of {self.planned} runs"]
        least = "at least " if self.unknown else ""
        known = f"{least}{self.hours:.1f} h on one core"
        first = f"{self.name}: {self.planned - self.num_runs} of {self.planned} runs, {known}"
        methods = sorted(self.seconds, key=lambda name: sum(self.seconds[name]))
        return [
            first,
            *(
                f"  {name}: {len(self.seconds[name])} runs, {sum(self.seconds[name]) / 3600:.1f} h"
                for name in methods
            ),
            *(f"  {name}: {count} runs, never timed" for name, count in self.unknown.items()),
        ]


def left_of(experiment: Experiment, records: Records) -> Left:
    """What an experiment lacks, with an estimate of its seconds."""
    known = _seconds(records.read())
    seconds: dict[str, list[float]] = defaultdict(list)
    unknown: dict[str, int] = defaultdict(int)
    for run in missing(experiment.runs, records):
        expected = expected_seconds(run, known)
        if expected is None:
            unknown[run.label] += 1
        else:
            seconds[run.label].append(expected)
    return Left(experiment.name, len(experiment.runs), dict(seconds), dict(unknown))


def expected_seconds(run: Run, known: dict[str, dict[str, float]]) -> float | None:
    """Seconds of a run by its method on its data set, or else the most of its method."""
    of_method = known.get(run.label, {})
    return of_method.get(run.dataset, max(of_method.values(), default=None))


def _seconds(records: Iterable[Record]) -> dict[str, dict[str, float]]:
    """Mean seconds by method and data set."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record["status"] == OK:
            found[record["method"]][record["dataset"]].append(record["seconds"])
    return {
        method: {dataset: fmean(values) for dataset, values in by_dataset.items()}
        for method, by_dataset in found.items()
    }


def experiments() -> list[Path]:
    """The experiments of the paper, tables first."""
    folder = ROOT / "experiments"
    return [*(folder / f"{name}.toml" for name in TABLES), *sorted(folder.glob("figure_*.toml"))]


def commands(path: Path, left: Left) -> list[list[str]]:
    """What makes the missing runs of an experiment, method by method, and its report."""
    folder = f"results/{path.stem}"
    program = [sys.executable, "-m", "gfsvi.cli", "bench"]
    methods = [*sorted(left.seconds, key=lambda name: sum(left.seconds[name])), *left.unknown]
    run = [*program, "run", str(path), "--output", folder]
    return [*([*run, "--method", name] for name in methods), [*program, "report", folder]]


def main(words: Sequence[str] | None = None) -> int:
    """Say what is missing and, if asked to, make it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="make what is missing")
    arguments = parser.parse_args(words)
    todo: list[tuple[Path, Left]] = []
    for path in experiments():
        left = left_of(Experiment.read(path), Records(ROOT / "results" / path.stem))
        print("\n".join(left.lines()))
        if left.num_runs:
            todo.append((path, left))
    for path, left in todo if arguments.run else []:
        for command in commands(path, left):
            if subprocess.run(command, cwd=ROOT, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
