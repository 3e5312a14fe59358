"""Records of runs: one line of JSON per run, in a folder that several runners may share."""

import contextlib
import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, NotRequired, TypedDict, cast

from filelock import FileLock, Timeout

from gfsvi.bench.experiment import ExperimentError, Settings
from gfsvi.bench.schema import is_record
from gfsvi.storage.files import WriteError, write_text

NAME = "records.jsonl"
OK, FAILED = "ok", "failed"


class Environment(TypedDict):
    """Versions and machine that a result may depend on, besides the version of this library."""

    jax: str
    numpy: str
    python: str
    machine: str
    cores: int | None
    processor: NotRequired[str | None]
    commit: NotRequired[str | None]
    lock: NotRequired[str | None]


class Description(TypedDict):
    """What a record says about its run before the outcome is known."""

    run: str
    experiment: str
    task: str
    dataset: str
    method: str
    fold: int
    seed: int
    settings: Settings
    version: str
    environment: Environment


class Outcome(TypedDict):
    """What a run found: metrics and series for figures, or the error that ended it."""

    status: str
    metrics: dict[str, float]
    series: NotRequired[dict[str, list[float] | list[list[float]]]]
    partial: NotRequired[dict[str, str]]
    error: NotRequired[str]


class Record(Description, Outcome):
    """A run, its outcome and how long it took."""

    seconds: float


class Records:
    """The records in a folder, with locks that the operating system releases on a crash."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self.path = self.folder / NAME
        self._locks = self.folder / ".locks"

    def read(self) -> list[Record]:
        """Read the latest record of each run; a line cut short by a killed writer is skipped."""
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        by_run: dict[str, Record] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            record = _parsed(line, f"line {number} of {self.path}")
            by_run.pop(record["run"], None)
            by_run[record["run"]] = record
        return list(by_run.values())

    def append(self, record: Record) -> None:
        """Append a record; it is on disk when this returns."""
        line = json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"
        try:
            with self._locked("records"), self.path.open("ab+") as file:
                file.truncate(_length_of_whole_lines(file))
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise WriteError(
                f"expected to add a record to {self.path}; it cannot be written: {error.strerror}. "
                "Check that the folder is writable and has room, and run the same command again: "
                "finished runs are kept."
            ) from error

    def forget(self, runs: Collection[str]) -> None:
        """Remove the records of these runs, so that they are executed again."""
        with self._locked("records"):
            kept = [record for record in self.read() if record["run"] not in runs]
            lines = [json.dumps(record, sort_keys=True, allow_nan=False) + "\n" for record in kept]
            write_text(self.path, "".join(lines))

    @contextlib.contextmanager
    def claim(self, identity: str) -> Iterator[bool]:
        """Try to claim a run for the duration of the context; False if another process holds it."""
        lock = self._locked(identity)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _locked(self, name: str) -> FileLock:
        self._locks.mkdir(parents=True, exist_ok=True)
        return FileLock(self._locks / f"{name}.lock")


def _length_of_whole_lines(file: IO[bytes]) -> int:
    """Offset of the end of the last complete line; a killed writer may have left part of one."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - 65536)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _parsed(line: bytes, where: str) -> Record:
    try:
        record = json.loads(line)
        if is_record(record):
            return cast(Record, record)
    except (ValueError, RecursionError, OverflowError):
        pass
    raise ExperimentError(
        f"expected a record in {where}; got {line[:40]!r}. Remove that line to repeat its run."
    )
