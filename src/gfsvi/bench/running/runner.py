"""Executes the missing runs of an experiment, alongside other runners on the same folder."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Protocol

from gfsvi.bench.experiment import Run
from gfsvi.bench.running.records import OK, Record, Records

SECONDS_BETWEEN_POLLS = 1.0
OnRecord = Callable[[Record], None]


class Stopped(Exception):
    """Raised by a worker that is closed during a run."""


class Worker(Protocol):
    """Executes runs, one at a time."""

    def __call__(self, run: Run) -> Record:
        """Execute a run; raise `Stopped` if closed meanwhile."""
        ...

    def close(self) -> None:
        """Stop immediately."""
        ...


def missing(runs: Iterable[Run], records: Records, *, retry: bool = False) -> list[Run]:
    """Runs without a record; with `retry`, failed runs too."""
    done = {r["run"] for r in records.read() if r["status"] == OK or not retry}
    return [run for run in runs if run.identity not in done]


def run_all(
    runs: Sequence[Run],
    records: Records,
    workers: Sequence[Worker],
    *,
    retry: bool = False,
    on_record: OnRecord = lambda record: None,
) -> None:
    """Execute and record all missing runs; return when none is missing.

    Runs claimed by another runner are left to it, and taken over if it dies.
    """
    pool = ThreadPoolExecutor(len(workers))
    queue = _RunQueue(missing(runs, records, retry=retry), records, retry, on_record)
    try:
        futures = [pool.submit(queue.serve, worker) for worker in workers]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()
    finally:
        queue.stop()
        for worker in workers:
            worker.close()
        pool.shutdown()


class _RunQueue:
    """The runs that the threads of a runner have yet to execute."""

    def __init__(self, runs: list[Run], records: Records, retry: bool, on_record: OnRecord):
        self._runs, self._records, self._retry, self._on_record = runs, records, retry, on_record
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def serve(self, worker: Worker) -> None:
        """Execute runs until none is left."""
        while not self._stopped.is_set() and (run := self._next()) is not None:
            with self._records.claim(run.identity) as ours:
                if ours:
                    self._execute(run, worker)
                else:  # another runner holds it: check again later
                    self._put_back(run)
                    time.sleep(SECONDS_BETWEEN_POLLS)

    def _execute(self, run: Run, worker: Worker) -> None:
        if not missing([run], self._records, retry=self._retry):
            return  # another runner has recorded it meanwhile
        try:
            record = worker(run)
        except Stopped:
            return
        self._records.append(record)
        with self._lock:
            self._on_record(record)

    def _next(self) -> Run | None:
        with self._lock:
            return self._runs.pop(0) if self._runs else None

    def _put_back(self, run: Run) -> None:
        with self._lock:
            self._runs.append(run)
