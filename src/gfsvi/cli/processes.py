"""Several processes that fit one model: start them, watch them, and end them together."""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import IO

from gfsvi.numerics.groups import Alone, Group, JaxProcesses, check_size

WORKER = "GFSVI_WORKER"
"""Environment variable that tells a process that another one watches it."""
LOST = 3
"""The status of a process that has lost another one."""
LOOPBACK = "127.0.0.1"
PATIENCE = 20.0
"""Seconds that processes have to end by themselves when one has ended."""
_NOISE = re.compile(r"\[Gloo\]|[IWEF]\d{4} |\*\*\* |\s+@ |RPC: |The tasks have crashed|\d+$|^$")
"""Lines of the runtime that say nothing to users."""


def is_shared(arguments: argparse.Namespace) -> bool:
    """Whether several processes fit the model."""
    return (arguments.processes or 1) > 1 or arguments.coordinator is not None


def is_watched() -> bool:
    """Whether this process is one that another one watches."""
    return WORKER in os.environ


def check_arguments(arguments: argparse.Namespace) -> None:
    """Raise unless the options of processes belong together."""
    given = [arguments.coordinator, arguments.num_processes, arguments.process_id]
    if any(part is not None for part in given) and any(part is None for part in given):
        raise ValueError(
            "--coordinator, --num-processes and --process-id expect each other; got only some of "
            "them. Give all three, or --processes for processes on this machine."
        )
    if arguments.coordinator is not None and arguments.processes is not None:
        raise ValueError(
            "--processes expects no --coordinator; got both. Give one of them: --processes starts "
            "processes on this machine, --coordinator is for machines that you start yourself."
        )
    check_size(arguments.num_processes or arguments.processes or 1)
    if arguments.time_budget is not None:
        raise ValueError(
            "expected no --time-budget for several processes, which could stop at different "
            "moments; leave it out."
        )


def group_of(arguments: argparse.Namespace) -> Group:
    """The processes that this one belongs to."""
    if arguments.coordinator is None:
        return Alone()
    return JaxProcesses(arguments.coordinator, arguments.num_processes, arguments.process_id)


def watch(arguments: argparse.Namespace, command: Sequence[str]) -> int:
    """Start the processes of this machine, and end all of them if one is lost.

    Args:
        arguments: The arguments, parsed.
        command: The same as words.
    """
    if arguments.coordinator is not None:
        return _Watched([list(command)]).wait()
    coordinator = f"{LOOPBACK}:{_free_port()}"
    words = _without(command, "--processes")
    shared = [*words, "--coordinator", coordinator, "--num-processes", str(arguments.processes)]
    ranks = range(arguments.processes)
    return _Watched([[*shared, "--process-id", str(rank)] for rank in ranks]).wait()


class _Watched:
    """Processes that are watched; what the first one says is passed on."""

    def __init__(self, commands: Sequence[Sequence[str]]):
        self._folder = tempfile.mkdtemp(prefix="gfsvi-")
        environment = os.environ | {WORKER: "1", "TMPDIR": self._folder}
        self._last: list[list[str]] = [[] for _ in commands]
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "gfsvi.cli", *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for words in commands
        ]
        self._readers = [
            threading.Thread(target=self._passed_on, args=(rank, stream, into), daemon=True)
            for rank, process in enumerate(self._processes)
            for stream, into in ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def wait(self) -> int:
        """Wait until all have ended; the status is that of the first that failed."""
        try:
            while any(process.poll() is None for process in self._processes):
                if any(process.poll() for process in self._processes):
                    break
                time.sleep(0.1)
            failed = [rank for rank, p in enumerate(self._processes) if p.poll()]
            return self._failed(failed[0]) if failed else 0
        finally:
            self._end()

    def _failed(self, rank: int) -> int:
        """Say in one sentence why the fit has ended."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and any(p.poll() is None for p in self._processes):
            time.sleep(0.1)
        # A process that says itself what is wrong comes before those that have only lost it.
        said = [
            line
            for number, process in enumerate(self._processes)
            if process.poll() not in (None, 0, LOST)
            for line in self._last[number]
            if line.startswith("gfsvi: ")
        ]
        status = self._processes[rank].poll() or 0
        lost = (
            f"gfsvi: process {rank} of this fit was lost (status {status}). Run the same "
            "command again: it goes on from the checkpoint."
        )
        sentence = said[-1] if said else lost
        print(sentence, file=sys.stderr)
        return 2

    def _end(self) -> None:
        # Not asked to end: a process that is asked removes its checkpoint.
        for process in self._processes:
            if process.poll() is None:
                process.kill()
        for process in self._processes:
            process.wait()
        for reader in self._readers:
            reader.join(timeout=2.0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _passed_on(self, rank: int, stream: IO[str] | None, into: IO[str]) -> None:
        for line in stream or ():
            line = line.rstrip("\n")
            self._last[rank] = [*self._last[rank][-20:], line]
            if rank == 0 and not _NOISE.match(line) and not line.startswith("gfsvi: "):
                print(line, file=into, flush=True)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        return listening.getsockname()[1]


def _without(words: Sequence[str], option: str) -> list[str]:
    """The words of a command without an option and its value."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == option:
            next(rest, None)
        elif not word.startswith(f"{option}="):
            kept.append(word)
    return kept
