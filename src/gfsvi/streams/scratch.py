"""The numbers of a table in files that belong to this process, written in one pass."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gfsvi.streams.lanes import LaneFile


class Scratch:
    """A folder of temporary files, one per lane, that is removed in the end.

    Args:
        folder: The folder.
        lanes: The lanes of this process.
        width: The number of columns.
    """

    def __init__(self, folder: Path, lanes: range, width: int):
        self.folder, self._lanes, self._width = folder, lanes, width

    @contextlib.contextmanager
    def writing(self) -> Iterator[Callable[[int, np.ndarray], None]]:
        """Within it, a function that appends rows to a lane."""
        with contextlib.ExitStack() as opened:
            files = {n: opened.enter_context(self._path(n).open("wb")) for n in self._lanes}
            yield lambda lane, rows: self._write(files[lane], rows)

    def _write(self, file: BinaryIO, rows: np.ndarray) -> None:
        try:
            file.write(np.ascontiguousarray(rows, np.float64).tobytes())
        except OSError as error:
            raise OSError(
                f"expected room for the numbers of the table in {self.folder.parent}; got the "
                f"error '{error.strerror}'. Free some, or name another folder by TMPDIR."
            ) from error

    @property
    def lanes(self) -> list[LaneFile]:
        """The lanes that were written."""
        return [LaneFile(self._path(number), self._width) for number in self._lanes]

    def _path(self, lane: int) -> Path:
        return self.folder / f"lane-{lane}"


@contextlib.contextmanager
def scratch(lanes: range, width: int) -> Iterator[Scratch]:
    """A scratch folder, which is removed in the end."""
    folder = Path(tempfile.mkdtemp(prefix="gfsvi-"))
    try:
        yield Scratch(folder, lanes, width)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def written(
    place: Scratch, batches: Iterable[tuple[int, np.ndarray]], lanes: range
) -> list[LaneFile]:
    """Write rows to their lanes, those of other processes left out."""
    with place.writing() as append:
        for lane, rows in batches:
            if lane in lanes:
                append(lane, rows)
    return place.lanes
