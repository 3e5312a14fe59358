"""Workers on this machine: a process each, which a crash or a lack of memory cannot take along."""

import dataclasses
import json
import os
import subprocess
import sys

from gfsvi import registry
from gfsvi.bench.experiment import Run
from gfsvi.bench.running.execution import described, failure
from gfsvi.bench.running.records import Record
from gfsvi.bench.running.runner import Stopped

MAX_DEATHS = 2


class LocalWorker:
    """Executes runs in a process of its own, with one thread, and starts another if it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def __call__(self, run: Run) -> Record:
        for _ in range(MAX_DEATHS):
            answer = self._ask(run)
            if answer is not None:
                return answer
            if self._closed:
                raise Stopped
        return described(run) | failure(
            f"the process of this run died {MAX_DEATHS} times, as it does without enough memory."
        )

    def close(self) -> None:
        self._closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _ask(self, run: Run) -> Record | None:
        process = self._running(run.task)
        try:
            print(json.dumps(dataclasses.asdict(run)), file=process.stdin, flush=True)
            answer = process.stdout.readline() if process.stdout else ""
        except (OSError, ValueError):  # it died, or was closed meanwhile
            answer = ""
        if answer.endswith("\n"):
            return json.loads(answer)
        self._end()
        return None

    def _running(self, task: str) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gfsvi.bench.running.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=registry.find("tasks", task).variables() | dict(os.environ),
                start_new_session=True,  # Ctrl-C is the runner's to handle
            )
        return self._process
