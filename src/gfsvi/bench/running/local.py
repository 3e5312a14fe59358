"""Workers on this machine: one process each, isolated from crashes and lack of memory."""

import dataclasses
import json
import os
import subprocess
import sys

from gfsvi import registry
from gfsvi.bench.experiment import Run
from gfsvi.bench.running.execution import failed_record
from gfsvi.bench.running.records import Record
from gfsvi.bench.running.runner import Stopped

MAX_CRASHES = 2


class LocalWorker:
    """Executes runs in a separate single-threaded process, which is restarted after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def __call__(self, run: Run) -> Record:
        for _ in range(MAX_CRASHES):
            answer = self._ask(run)
            if answer is not None:
                return answer
            if self._closed:
                raise Stopped
        return failed_record(
            run, f"the process of this run crashed {MAX_CRASHES} times; it may lack memory."
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
        except (OSError, ValueError):  # it crashed, or was closed meanwhile
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
                start_new_session=True,  # the runner handles Ctrl-C
            )
        return self._process
