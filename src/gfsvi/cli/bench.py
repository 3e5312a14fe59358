"""`gfsvi bench run`, `gfsvi bench tune` and `gfsvi bench report`."""

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TextIO

from gfsvi.bench.experiment import Experiment, Run
from gfsvi.bench.reporting.report import EXPERIMENT
from gfsvi.bench.running.local import LocalWorker
from gfsvi.bench.running.records import OK, Record, Records
from gfsvi.bench.running.runner import Worker, missing, run_all
from gfsvi.storage.files import atomic_path


def run(arguments: argparse.Namespace) -> int:
    """Make the runs of an experiment that are missing; 1 if some failed."""
    experiment = _experiment(arguments)
    records = Records(arguments.output)
    _remember(arguments.experiment, records.folder)
    left = missing(experiment.runs, records, retry=arguments.retry)
    display = Display(len(experiment.runs), len(left), quiet=arguments.quiet)
    signal.signal(signal.SIGTERM, _stop)
    if left:
        workers = _workers(arguments, experiment.task)
        run_all(experiment.runs, records, workers, retry=arguments.retry, on_record=display.update)
    return _summarize(experiment.runs, records)


def tune(arguments: argparse.Namespace) -> int:
    """Search for settings, and write the experiment that uses them."""
    from gfsvi.bench.search import Search, Trial, tune

    experiment = _experiment(arguments)
    search = Search.of(experiment, arguments.trials)
    signal.signal(signal.SIGTERM, _stop)

    def tell(trial: Trial) -> None:
        outcome = "given up" if trial.score is None else f"{trial.score:.4f}"
        settings = ", ".join(f"{name} {value}" for name, value in trial.settings.items())
        line = f"{trial.dataset} {trial.method} trial {trial.number + 1}: {outcome} ({settings})"
        if not arguments.quiet:
            print(line, file=sys.stderr, flush=True)

    workers = _workers(arguments, experiment.task)
    path = tune(experiment, search, Path(arguments.output), workers, tell=tell)
    print(f"experiment: {path}")
    return 0


def report(arguments: argparse.Namespace) -> int:
    """Write the reports on a folder of records."""
    from gfsvi.bench.reporting.report import write_reports

    for path in write_reports(arguments.folder, arguments.output):
        print(f"report: {path}")
    return 0


def _experiment(arguments: argparse.Namespace) -> Experiment:
    return Experiment.read(arguments.experiment).only(
        datasets=tuple(arguments.dataset or ()),
        methods=tuple(arguments.method or ()),
        folds=tuple(arguments.fold or ()),
        seeds=tuple(arguments.seed or ()),
    )


def _remember(experiment: str, folder: Path) -> None:
    """Keep the experiment beside its records, for the report."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / EXPERIMENT) as draft:
        draft.write_bytes(Path(experiment).read_bytes())


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _workers(arguments: argparse.Namespace, task: str) -> Sequence[Worker]:
    if arguments.ray is not None:
        from gfsvi.bench.running.ray_cluster import ray_workers

        return ray_workers(arguments.ray, task)
    return [LocalWorker() for _ in range(arguments.workers)]


def _summarize(runs: Sequence[Run], records: Records) -> int:
    wanted = {run.identity for run in runs}
    made = [record for record in records.read() if record["run"] in wanted]
    failed = [record for record in made if record["status"] != OK]
    print(
        f"records: {Path(records.path)} ({len(made)} of {len(wanted)} runs, {len(failed)} failed)"
    )
    for record in failed:
        print(f"  {_name(record)}: {record.get('error')}")
    if failed:
        print("  `--retry` makes these again.")
    return 1 if failed else 0


def _name(record: Record) -> str:
    return f"{record['dataset']} {record['method']} fold {record['fold']}"


class Display:
    """How far the runs have come and how long they will take: a bar, or lines elsewhere."""

    def __init__(
        self, num_runs: int, num_left: int, *, quiet: bool = False, stream: TextIO | None = None
    ):
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._num_runs, self._num_left = num_runs, num_left
        self._began = time.monotonic()
        self._num_told = 0

    def update(self, record: Record) -> None:
        """Show that a run has been recorded."""
        self._num_left -= 1
        self._num_told += 1
        if self._quiet:
            return
        share = 1 - self._num_left / max(1, self._num_runs)
        left = (time.monotonic() - self._began) / self._num_told * self._num_left
        line = f"{share:4.0%}  {_name(record)}: {record['status']}, {record['seconds']:.0f} s; "
        line += f"{self._num_left} runs left, about {_duration(left)}"
        if self._stream.isatty():
            bar = "█" * round(24 * share) + "░" * (24 - round(24 * share))
            self._stream.write(f"\r\x1b[K{bar} {line}" + ("" if self._num_left else "\n"))
            self._stream.flush()
        else:
            print(line, file=self._stream, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
