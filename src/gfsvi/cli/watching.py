"""Processes that fit one model: they are watched, and end together."""

import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import IO, Protocol

WORKER = "GFSVI_WORKER"
"""Environment variable that tells a process that another one watches it."""
LOST = 3
"""The status of a process that has lost another one."""
PATIENCE = 20.0
"""Seconds that processes have to end by themselves when one has ended."""
PAUSE = 0.1
"""Seconds between two looks at all processes."""
_NOISE = re.compile(r"\[Gloo\]|[IWEF]\d{4} |\*\*\* |\s+@ |RPC: |The tasks have crashed|\d+$|^$")
"""Lines of the runtime that say nothing to users."""

Line = tuple[str, str]
"""The name of a stream, and a line that was written to it."""


class Process(Protocol):
    """A process of a fit, on this machine or on another."""

    def poll(self) -> int | None:
        """Its status once it has ended."""
        ...

    def lines(self) -> list[Line]:
        """What it has written since the last call."""
        ...

    def kill(self) -> None:
        """End it, and remove its temporary files."""
        ...


class LocalProcess:
    """A command of ours in a process of this machine, which ends when this one does.

    Args:
        words: The command.
        folder: Where it runs; None for the folder of this process.
    """

    def __init__(self, words: Sequence[str], folder: str | None = None):
        self._temporary = tempfile.mkdtemp(prefix="gfsvi-")
        self._queue: queue.SimpleQueue[Line] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gfsvi.cli", *words],
            env=os.environ | {WORKER: "1", "TMPDIR": self._temporary},
            cwd=folder,
            stdin=subprocess.PIPE,  # which ends with this process, however that happens
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        streams = (("stdout", self._process.stdout), ("stderr", self._process.stderr))
        self._readers = [
            threading.Thread(target=self._read, args=named, daemon=True) for named in streams
        ]
        for reader in self._readers:
            reader.start()

    def poll(self) -> int | None:
        """Its status once it has ended."""
        return self._process.poll()

    def lines(self) -> list[Line]:
        """What it has written since the last call."""
        return [self._queue.get() for _ in range(self._queue.qsize())]

    def kill(self) -> None:
        """End it, and remove its temporary files."""
        # Not asked to end: a process that is asked removes its checkpoint.
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join(timeout=2.0)
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _read(self, name: str, stream: IO[str] | None) -> None:
        for line in stream or ():
            self._queue.put((name, line.rstrip("\n")))


def is_watched() -> bool:
    """Whether this process is one that another one watches."""
    return WORKER in os.environ


def end_with_watcher() -> None:
    """End this process as soon as the one that watches it has ended."""

    def wait() -> None:
        while os.read(0, 1):  # not sys.stdin, which Python locks when it ends
            pass
        os._exit(LOST)

    threading.Thread(target=wait, daemon=True).start()


def watched(processes: Sequence[Process]) -> int:
    """Wait until all have ended, and end all if one is lost; what the first one says is passed on.

    Returns:
        The status of the command, whose reason is printed if it is not 0.
    """
    last: list[list[str]] = [[] for _ in processes]
    try:
        statuses = _pass_on_until_ended(processes, last)
    finally:
        for process in processes:
            process.kill()
    _pass_on(processes, last)
    failed = [rank for rank, status in enumerate(statuses) if status]
    if not failed:
        return 0
    print(_reason(failed[0], statuses, last), file=sys.stderr)
    return 2


def _pass_on_until_ended(processes: Sequence[Process], last: list[list[str]]) -> list[int | None]:
    """The status of each when all have ended, or some time after one has failed."""
    until = None
    while True:
        statuses = [process.poll() for process in processes]
        _pass_on(processes, last)
        if None not in statuses or (until is not None and time.monotonic() > until):
            return statuses
        if until is None and any(statuses):
            until = time.monotonic() + PATIENCE
        time.sleep(PAUSE)


def _pass_on(processes: Sequence[Process], last: list[list[str]]) -> None:
    for rank, process in enumerate(processes):
        for name, line in process.lines():
            last[rank] = [*last[rank][-20:], line]
            if rank == 0 and not _NOISE.match(line) and not line.startswith("gfsvi: "):
                print(line, file=sys.stdout if name == "stdout" else sys.stderr, flush=True)


def _reason(rank: int, statuses: list[int | None], last: list[list[str]]) -> str:
    """Why the fit has ended, in one sentence."""
    # A process that says itself what is wrong comes before those that have only lost it.
    said = [
        line
        for status, lines in zip(statuses, last, strict=True)
        if status not in (None, 0, LOST)
        for line in lines
        if line.startswith("gfsvi: ")
    ]
    lost = (
        f"gfsvi: process {rank} of this fit was lost (status {statuses[rank]}). Run the same "
        "command again: it goes on from the checkpoint."
    )
    return said[-1] if said else lost
