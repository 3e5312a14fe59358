"""What process 0 has found, in all processes of a fit."""

import tempfile
from pathlib import Path
from typing import TypeVar

from gfsvi.numerics.groups import Group, of_first
from gfsvi.storage import model_file

T = TypeVar("T")
KIND = "message"


def agreed(group: Group, found: T) -> T:
    """What process 0 has found; others may differ in the last digits, on another machine."""
    if group.size == 1:
        return found
    with tempfile.TemporaryDirectory(prefix="gfsvi-") as folder:
        path = Path(folder) / "message"

        def content() -> bytes:
            model_file.write(path, {"found": found}, kind=KIND)
            return path.read_bytes()

        received = of_first(group, content)
        path.write_bytes(received)
        return model_file.read(path, kind=KIND)["found"]


def checkpoint_of_first(group: Group, path: str | Path, folder: Path) -> Path:
    """A checkpoint file for this process: that of process 0, or a copy of it in a folder."""
    if group.size == 1:
        return Path(path)

    def content() -> bytes:
        return Path(path).read_bytes() if Path(path).exists() else b""

    received = of_first(group, content)
    if group.rank == 0:
        return Path(path)
    copy = folder / "checkpoint"
    if received:
        copy.write_bytes(received)
    return copy
