"""Checkpoints: one file that records how far each training run has come."""

import threading
import time
from pathlib import Path
from typing import Any

from gfsvi.storage import model_file
from gfsvi.storage.model_file import ModelFileError

KIND = "checkpoint"


class Checkpoints:
    """Training runs, numbered in the order in which they begin.

    Work that is killed and started again begins the same runs in the same order: finished runs are
    taken from the file, and the interrupted one continues. A file from other work, whose
    `fingerprint` differs, is ignored.
    """

    def __init__(self, path: str | Path, fingerprint: str, *, every_seconds: float = 2.0):
        self._path = Path(path)
        self._every_seconds = every_seconds
        self._saved_at = time.monotonic()
        self._fingerprint = fingerprint
        self._runs = self._read()
        self._num_begun = 0
        self._lock = threading.Lock()  # several kernels are fitted concurrently

    def begin(self) -> "Slot":
        """The slot of the next run."""
        self._num_begun += 1
        return Slot(self, str(self._num_begun))

    def load(self, name: str) -> dict[str, Any] | None:
        """The last saved content of a run, if there is any."""
        content = self._runs.get(name)
        return content if type(content) is dict else None

    def save(self, name: str, content: dict[str, Any], *, finished: bool) -> None:
        """Store the content of a run; the file is written every few seconds and at the end."""
        with self._lock:
            self._runs[name] = content
            if finished or time.monotonic() - self._saved_at >= self._every_seconds:
                record = {"fingerprint": self._fingerprint, "runs": self._runs}
                model_file.write(self._path, record, kind=KIND)
                self._saved_at = time.monotonic()

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            record = model_file.read(self._path, kind=KIND)
        except ModelFileError:  # there is no file, or none that can be used: start from scratch
            return {}
        fingerprint, runs = record.get("fingerprint"), record.get("runs")
        if type(fingerprint) is not str or fingerprint != self._fingerprint:
            return {}
        return dict(runs) if type(runs) is dict else {}


class Slot:
    """The part of `Checkpoints` that belongs to one run."""

    def __init__(self, checkpoints: Checkpoints, name: str):
        self._checkpoints = checkpoints
        self._name = name

    def load(self) -> dict[str, Any] | None:
        """The last saved content, if there is any."""
        return self._checkpoints.load(self._name)

    def save(self, content: dict[str, Any], *, finished: bool) -> None:
        """Store the content of this run."""
        self._checkpoints.save(self._name, content, finished=finished)
