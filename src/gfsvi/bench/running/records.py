"""What runs found: one line of JSON each, appended whole, in a folder that runners may share."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gfsvi.bench.experiment import ExperimentError

NAME = "records.jsonl"
OK, FAILED = "ok", "failed"
Record = dict[str, Any]


class Records:
    """The records of a folder. Locks are the operating system's: a killed process holds none."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self.path = self.folder / NAME
        self._locks = self.folder / ".locks"

    def read(self) -> list[Record]:
        """All records, the last of each run; what a killed writer left of a line is passed over."""
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
        """Add a line, on the disk before this returns."""
        line = json.dumps(record, sort_keys=True, allow_nan=False).encode() + b"\n"
        with self._locked("records"), self.path.open("ab+") as file:
            file.truncate(_length_of_whole_lines(file))
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def claim(self, identity: str) -> Iterator[bool]:
        """Whether this run is ours as long as the context lasts; False if another has it."""
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


def _length_of_whole_lines(file: Any) -> int:
    """Where the last line ends that is whole: a killed writer may have left a part of one."""
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
        if isinstance(record, dict) and isinstance(record.get("run"), str):
            return record
    except ValueError:
        pass
    raise ExperimentError(
        f"expected a record in {where}; got {line[:40]!r}. Remove that line: the run is made again."
    )
