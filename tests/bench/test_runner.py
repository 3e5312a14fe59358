"""Every run is executed exactly once, with several runners and killed ones."""

import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.running.records import Records
from gfsvi.bench.running.runner import Stopped, missing, run_all

EXPERIMENT = Experiment.parse(
    "small",
    {"task": "regression", "datasets": ["yacht", "wine"], "methods": {"map": {}, "mfvi": {}}},
)


class Quick:
    """A worker whose runs take a given time and are counted."""

    def __init__(self, seconds: float = 0.0, fails: bool = False):
        self.made: list[str] = []
        self._seconds, self._fails = seconds, fails
        self._closed = threading.Event()

    def __call__(self, run):
        if self._closed.wait(self._seconds):
            raise Stopped
        self.made.append(run.identity)
        status = "failed" if self._fails else "ok"
        mse = len(run.label) * (run.fold + 1) / 7
        return {"run": run.identity, "status": status, "metrics": {"mse": mse}}

    def close(self):
        self._closed.set()


def identities() -> list[str]:
    return sorted(run.identity for run in EXPERIMENT.runs)


def test_every_run_is_executed_exactly_once(tmp_path):
    first = Quick()
    told = []
    run_all(EXPERIMENT.runs, Records(tmp_path), [first], on_record=told.append)
    assert sorted(first.made) == identities() and len(told) == 20
    second = Quick()
    run_all(EXPERIMENT.runs, Records(tmp_path), [second])
    assert second.made == []


def test_failed_runs_are_repeated_only_on_request(tmp_path):
    records = Records(tmp_path)
    run_all(EXPERIMENT.runs, records, [Quick(fails=True)])
    assert missing(EXPERIMENT.runs, records) == []
    assert len(missing(EXPERIMENT.runs, records, retry=True)) == 20
    run_all(EXPERIMENT.runs, records, [Quick()], retry=True)
    assert {record["status"] for record in records.read()} == {"ok"}
    assert len(records.read()) == 20


def test_two_runners_on_one_folder_share_the_runs(tmp_path):
    workers = [Quick(0.01) for _ in range(4)]
    runners = [
        threading.Thread(target=run_all, args=(EXPERIMENT.runs, Records(tmp_path), pair))
        for pair in (workers[:2], workers[2:])
    ]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert sorted(name for worker in workers for name in worker.made) == identities()
    assert len(Records(tmp_path).path.read_text().splitlines()) == 20


def test_an_error_of_a_worker_ends_the_runner(tmp_path):
    class Broken(Quick):
        def __call__(self, run):
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        run_all(EXPERIMENT.runs, Records(tmp_path), [Broken(), Quick(0.01)])


def killed_and_started_again(folder, num_kills: int) -> None:
    command = [sys.executable, __file__, str(folder)]  # runs the end of this file
    chance = random.Random(0)
    for _ in range(num_kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("num_kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_runners_leave_every_record_once_and_complete(tmp_path, num_kills):
    killed_and_started_again(tmp_path / "killed", num_kills)
    run_all(EXPERIMENT.runs, Records(tmp_path / "undisturbed"), [Quick()])
    lines = Records(tmp_path / "killed").path.read_text().splitlines()
    assert len(lines) == 20

    def results(name):
        found = Records(tmp_path / name).read()
        return sorted((record["run"], record["metrics"]["mse"]) for record in found)

    assert results("killed") == results("undisturbed")


if __name__ == "__main__":
    print("ready", flush=True)
    run_all(EXPERIMENT.runs, Records(sys.argv[1]), [Quick(0.05), Quick(0.05)])
