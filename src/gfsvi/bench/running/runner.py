"""Makes every run of an experiment that has not been made, whoever else is at it."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Protocol

from gfsvi.bench.experiment import Run
from gfsvi.bench.running.records import OK, Record, Records

SECONDS_BETWEEN_LOOKS = 1.0
Tell = Callable[[Record], None]


class Stopped(Exception):
    """A worker was closed in the middle of a run."""


class Worker(Protocol):
    """Where runs are executed, one at a time."""

    def __call__(self, run: Run) -> Record:
        """Execute a run; raises `Stopped` if closed meanwhile."""
        ...

    def close(self) -> None:
        """Stop at once."""
        ...


def missing(runs: Iterable[Run], records: Records, *, retry: bool = False) -> list[Run]:
    """Runs without a record; with `retry` also those that failed."""
    done = {r["run"] for r in records.read() if r["status"] == OK or not retry}
    return [run for run in runs if run.identity not in done]


def run_all(
    runs: Sequence[Run],
    records: Records,
    workers: Sequence[Worker],
    *,
    retry: bool = False,
    tell: Tell = lambda record: None,
) -> None:
    """Make the missing runs and record them; returns when none is missing.

    What another runner has claimed is left to it, and taken over should it die.
    """
    pool = ThreadPoolExecutor(len(workers))
    shared = _Shared(missing(runs, records, retry=retry), records, retry, tell)
    try:
        futures = [pool.submit(shared.serve, worker) for worker in workers]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
    finally:
        shared.stop()
        for worker in workers:
            worker.close()
        pool.shutdown()


class _Shared:
    """What the threads of a runner share."""

    def __init__(self, runs: list[Run], records: Records, retry: bool, tell: Tell):
        self._runs, self._records, self._retry, self._tell = runs, records, retry, tell
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def serve(self, worker: Worker) -> None:
        """Make runs until none is left."""
        while not self._stopped.is_set() and (run := self._next()) is not None:
            with self._records.claim(run.identity) as ours:
                if ours:
                    self._make(run, worker)
                else:  # another runner has it: look again later
                    self._put_back(run)
                    time.sleep(SECONDS_BETWEEN_LOOKS)

    def _make(self, run: Run, worker: Worker) -> None:
        if not missing([run], self._records, retry=self._retry):
            return  # another runner has made it meanwhile
        try:
            record = worker(run)
        except Stopped:
            return
        self._records.append(record)
        with self._lock:
            self._tell(record)

    def _next(self) -> Run | None:
        with self._lock:
            return self._runs.pop(0) if self._runs else None

    def _put_back(self, run: Run) -> None:
        with self._lock:
            self._runs.append(run)
