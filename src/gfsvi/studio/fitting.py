"""Full fits: each is a process of its own, so that the page stays quick while it works."""

import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path, PurePath
from typing import Any

from gfsvi.numerics.printing import DIGITS
from gfsvi.studio.building import kernel_as_written
from gfsvi.studio.exporting import MIN_ROWS, POINTS, command, points_table
from gfsvi.studio.opened import Table
from gfsvi.studio.reading import WorkspaceError
from gfsvi.studio.workspace import Workspace

MAX_RUNNING = 1


class Fits:
    """The fits that were begun; they end with the studio."""

    def __init__(self) -> None:
        self._fits: list[Fit] = []
        self._lock = threading.Lock()

    def begin(self, workspace: Workspace, table: Table | None) -> int:
        """Start a fit of all rows under the prior of a workspace."""
        with self._lock:
            if sum(fit.is_running for fit in self._fits) >= MAX_RUNNING:
                raise WorkspaceError(
                    "expected one fit at a time; another is running. Stop it, or wait for it."
                )
            self._fits.append(Fit(workspace, table))
            return len(self._fits) - 1

    def __getitem__(self, number: int) -> "Fit":
        if not 0 <= number < len(self._fits):
            raise WorkspaceError(
                "expected a fit that was begun here; the studio was started again since then."
            )
        return self._fits[number]

    def close(self) -> None:
        """End all fits and remove their files."""
        for fit in self._fits:
            fit.close()


class Fit:
    """A process that fits a table; its last words are kept for the page."""

    def __init__(self, workspace: Workspace, table: Table | None):
        if workspace.kind != "function" or len(workspace.x) < MIN_ROWS:
            raise WorkspaceError(
                f"a full fit expects {MIN_ROWS} rows of a function or more; got "
                f"{len(workspace.x)}. Open a table, or click more points; fields are fitted in "
                "Python."
            )
        self._folder = tempfile.TemporaryDirectory(prefix="gfsvi-studio-")
        folder = Path(self._folder.name)
        name = POINTS if table is None else f"table{PurePath(table.name).suffix.lower()}"
        data = points_table(workspace).encode() if table is None else table.data
        (folder / name).write_bytes(data)
        job = {
            "folder": str(folder),
            "table": name,
            "title": POINTS if table is None else table.name,
            "target": workspace.target,
            "kernel": kernel_as_written(workspace).code(DIGITS + 4),
            "hidden": list(workspace.hidden),
            "command": command(workspace).splitlines()[0],
        }
        self._told: dict[str, Any] = {"stage": "starting", "share": 0.0, "state": "running"}
        self._remarks: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gfsvi.studio.fit_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._say(json.dumps(job))
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._told["state"] == "running"

    @property
    def progress(self) -> dict[str, Any]:
        """How far it is, in words and as a share."""
        return {**self._told, "remarks": self._remarks}

    def stop(self) -> dict[str, Any]:
        """Ask it to end with the best model so far."""
        if self.is_running:
            self._say("stop")
        return self.progress

    def report(self) -> bytes:
        """The page that explains the fit."""
        return self._file("report.html")

    def model(self) -> bytes:
        """The model file."""
        return self._file("model.gfsvi")

    def close(self) -> None:
        """End the process and remove its files."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._folder.cleanup()

    def _file(self, name: str) -> bytes:
        path = Path(self._folder.name) / name
        if self.is_running or not path.is_file():
            raise WorkspaceError("expected a fit that is done; this one is not. Wait for it.")
        return path.read_bytes()

    def _say(self, line: str) -> None:
        if self._process.stdin is not None:
            try:
                self._process.stdin.write(f"{line}\n")
                self._process.stdin.flush()
            except OSError:
                pass  # it has ended, which the listener will tell

    def _listen(self) -> None:
        if self._process.stdout is None:
            return
        for line in self._process.stdout:
            told = json.loads(line)
            if "remark" in told:
                self._remarks.append(told["remark"])
            else:
                self._told = {**self._told, **told}
        if self._told["state"] == "running":
            sentence = "the fit ended without an answer; there may be too little memory."
            self._told = {**self._told, "state": "failed", "sentence": sentence}
