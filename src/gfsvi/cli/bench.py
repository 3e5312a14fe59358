"""`gfsvi bench run`, `tune`, `report` and `verify`."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from gfsvi import registry
from gfsvi.bench.data.own_tables import OwnTable
from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.bench.outside.peers import ENVIRONMENT, PEERS
from gfsvi.bench.reporting.report import EXPERIMENT
from gfsvi.bench.reporting.texts import run_name
from gfsvi.bench.running.local import LocalWorker
from gfsvi.bench.running.records import OK, Record, Records
from gfsvi.bench.running.runner import Worker, missing, run_all
from gfsvi.bench.running.verification import sampled, verified
from gfsvi.bench.schema import json_schema
from gfsvi.storage.files import write_bytes


def run(arguments: argparse.Namespace) -> int:
    """Execute the missing runs of an experiment; 1 if some have failed."""
    experiment = _experiment(arguments)
    records = Records(arguments.output)
    records.folder.mkdir(parents=True, exist_ok=True)
    # The report needs the experiment beside its records.
    write_bytes(records.folder / EXPERIMENT, Path(arguments.experiment).read_bytes())
    if arguments.again:
        records.forget({run.identity for run in experiment.runs})
    left = missing(experiment.runs, records, retry=arguments.retry)
    display = Display(experiment, len(left), quiet=arguments.quiet)
    if left:
        workers = _workers(arguments, experiment.task)
        run_all(experiment.runs, records, workers, retry=arguments.retry, on_record=display.update)
    return _summarize(experiment, records)


def tune(arguments: argparse.Namespace) -> int:
    """Search for settings and write the experiment that uses them."""
    from gfsvi.bench.search.space import Search
    from gfsvi.bench.search.studies import Trial
    from gfsvi.bench.search.tuning import tune

    experiment = _experiment(arguments)
    search = Search.of(experiment, arguments.trials)

    def show(trial: Trial) -> None:
        outcome = "failed or pruned" if trial.score is None else f"{trial.score:.4f}"
        settings = ", ".join(f"{name} {value}" for name, value in trial.settings.items())
        line = f"{trial.dataset} {trial.method} trial {trial.number + 1}: {outcome} ({settings})"
        if not arguments.quiet:
            print(line, file=sys.stderr, flush=True)

    workers = _workers(arguments, experiment.task)
    path = tune(experiment, search, Path(arguments.output), workers, on_trial=show)
    print(f"experiment: {path}")
    return 0


def report(arguments: argparse.Namespace) -> int:
    """Write the reports on a folder of records."""
    from gfsvi.bench.reporting.report import write_reports

    for path in write_reports(arguments.folder, arguments.output):
        print(f"report: {path}")
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """Repeat runs chosen at random and compare them with their records; 1 if some differ."""
    from gfsvi.bench.reporting.report import read_results

    experiment, records = read_results(Path(arguments.folder))
    chosen = sampled(experiment.runs, records, arguments.sample, arguments.seed)
    worker, num_equal = LocalWorker(), 0
    try:
        for found in verified(chosen, records, worker):
            num_equal += found.is_equal
            print(f"{run_name(found.record, experiment)}: {found.sentence}", flush=True)
    finally:
        worker.close()
    print(f"equal: {num_equal} of {len(chosen)} records")
    return 0 if num_equal == len(chosen) else 1


def peers(arguments: argparse.Namespace) -> int:
    """Make the environment of the methods outside of the library."""
    print(f"peers: {ENVIRONMENT.install()}")
    return 0


def _experiment(arguments: argparse.Namespace) -> Experiment:
    experiment = Experiment.read(arguments.experiment).only(
        datasets=tuple(arguments.dataset or ()),
        methods=tuple(arguments.method or ()),
        folds=tuple(arguments.fold or ()),
        seeds=tuple(arguments.seed or ()),
    )
    for own in filter(None, map(OwnTable.named, experiment.datasets)):
        own.check()
    _check_peers(experiment)
    return experiment


def _check_peers(experiment: Experiment) -> None:
    admitted = registry.find("tasks", experiment.task).peers
    for name in sorted(experiment.named_methods.intersection(admitted)):
        if not PEERS[name].is_ready:
            raise ExperimentError(
                f"{name} expects an environment for methods outside of the library; got none with "
                "the versions that are compared. Run `gfsvi bench peers`, which installs 2 GB, or "
                "name other methods with --method."
            )


def _workers(arguments: argparse.Namespace, task: str) -> Sequence[Worker]:
    if arguments.ray is not None:
        from gfsvi.bench.running.ray_cluster import ray_workers

        return ray_workers(arguments.ray, task)
    return [LocalWorker() for _ in range(arguments.workers)]


def _summarize(experiment: Experiment, records: Records) -> int:
    wanted = {run.identity for run in experiment.runs}
    found = [record for record in records.read() if record["run"] in wanted]
    failed = [record for record in found if record["status"] != OK]
    print(
        f"records: {Path(records.path)} ({len(found)} of {len(wanted)} runs, {len(failed)} failed)"
    )
    for record in failed:
        print(f"  {run_name(record, experiment)}: {record.get('error')}")
    if failed:
        print("  Use --retry to repeat failed runs.")
    return 1 if failed else 0


class Display:
    """Progress and remaining time: a bar on a terminal, otherwise one line per run."""

    def __init__(
        self,
        experiment: Experiment,
        num_left: int,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
    ):
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._experiment, self._num_left = experiment, num_left
        self._num_runs = len(experiment.runs)
        self._began = time.monotonic()
        self._num_done = 0

    def update(self, record: Record) -> None:
        """Show that a run has been recorded."""
        self._num_left -= 1
        self._num_done += 1
        if self._quiet:
            return
        share = 1 - self._num_left / max(1, self._num_runs)
        left = (time.monotonic() - self._began) / self._num_done * self._num_left
        line = f"{share:4.0%}  {run_name(record, self._experiment)}: {record['status']}, "
        runs = "1 run" if self._num_left == 1 else f"{self._num_left} runs"
        line += f"{record['seconds']:.0f} s; {runs} left, about {_duration(left)}"
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


def schema(arguments: argparse.Namespace) -> int:
    """Print a JSON schema of experiment files."""
    print(json.dumps(json_schema(), indent=2))
    return 0
