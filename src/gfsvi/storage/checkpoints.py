"""Long work survives: one file that remembers how far every run of training has come."""

import threading
import time
from pathlib import Path
from typing import Any

from gfsvi.storage import model_file as persistence
from gfsvi.storage.model_file import ModelFileError

KIND = "checkpoint"


class Checkpoints:
    """Runs of training, numbered in the order in which they begin.

    Work that begins again after it was killed begins the same runs in the same order: finished
    ones are taken from the file, the one that was cut off goes on. A file of other work, whose
    `fingerprint` differs, is not looked at.
    """

    def __init__(self, path: str | Path, fingerprint: str, *, every_seconds: float = 2.0):
        self._path = Path(path)
        self._every_seconds = every_seconds
        self._saved_at = time.monotonic()
        self._fingerprint = fingerprint
        self._runs = self._read()
        self._num_begun = 0
        self._lock = threading.Lock()  # families of kernels are fitted side by side

    def begin(self) -> "Slot":
        """The place of the next run."""
        self._num_begun += 1
        return Slot(self, str(self._num_begun))

    def remove(self) -> None:
        """Forget it all: the work is done."""
        self._path.unlink(missing_ok=True)

    def load(self, name: str) -> dict[str, Any] | None:
        """What is known of a run."""
        return self._runs.get(name)

    def save(self, name: str, content: dict[str, Any], *, finished: bool) -> None:
        """Remember a run; the file is written now and then, and whenever a run is finished."""
        with self._lock:
            self._runs[name] = content
            if finished or time.monotonic() - self._saved_at >= self._every_seconds:
                record = {"fingerprint": self._fingerprint, "runs": self._runs}
                persistence.write(self._path, record, kind=KIND)
                self._saved_at = time.monotonic()

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            record = persistence.read(self._path, kind=KIND)
        except ModelFileError:  # there is none, or none that can be used: begin anew
            return {}
        return record["runs"] if record.get("fingerprint") == self._fingerprint else {}


class Slot:
    """One run's place in `Checkpoints`."""

    def __init__(self, checkpoints: Checkpoints, name: str):
        self._checkpoints = checkpoints
        self._name = name

    def load(self) -> dict[str, Any] | None:
        """What was saved last, if anything was."""
        return self._checkpoints.load(self._name)

    def save(self, content: dict[str, Any], *, finished: bool) -> None:
        """Remember this."""
        self._checkpoints.save(self._name, content, finished=finished)
