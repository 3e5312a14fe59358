"""The numbers of rows, divided into lanes: shares that are read one by one."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from gfsvi.numerics.groups import LANES
from gfsvi.tables.sources import PIECE

BYTES = 8


class Lane(Protocol):
    """Rows of numbers that can be read in any order: inputs, targets and perhaps weights."""

    def __len__(self) -> int:
        """The number of rows."""
        ...

    def read(self, start: int, stop: int) -> np.ndarray:
        """The rows from `start` to before `stop`, (row, column)."""
        ...


@dataclasses.dataclass(frozen=True)
class LaneFile:
    """Rows in a file of float64 numbers.

    Args:
        path: The file.
        width: The number of columns.
    """

    path: Path
    width: int

    def __len__(self) -> int:
        return self.path.stat().st_size // (BYTES * self.width)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Read rows; not by a memory map, whose pages would count as memory of the process."""
        count = max(0, min(stop, len(self)) - start)
        found = np.fromfile(
            self.path, np.float64, count * self.width, offset=BYTES * start * self.width
        )
        return found.reshape(count, self.width)


@dataclasses.dataclass(frozen=True)
class LaneOfArrays:
    """Every so many-th piece of arrays that are in memory, or mapped from a file.

    Args:
        columns: Arrays with one entry per row: inputs (row, feature), targets, perhaps weights.
        lane: The number of the lane.
        piece: Rows in a piece.
    """

    columns: tuple[np.ndarray, ...]
    lane: int
    piece: int = PIECE

    def __len__(self) -> int:
        rounds, rest = divmod(len(self.columns[0]), self.piece * LANES)
        return rounds * self.piece + int(np.clip(rest - self.lane * self.piece, 0, self.piece))

    def read(self, start: int, stop: int) -> np.ndarray:
        """Read rows, from as many pieces as they are in."""
        parts, stop = [], min(stop, len(self))
        while start < stop:
            number, inside = divmod(start, self.piece)
            first = (number * LANES + self.lane) * self.piece + inside
            count = min(self.piece - inside, stop - start)
            parts.append(_joined([column[first : first + count] for column in self.columns]))
            start += count
        return np.concatenate(parts) if parts else _joined([c[:0] for c in self.columns])


def lanes_of_arrays(columns: Sequence[np.ndarray], lanes: range, piece: int = PIECE) -> list[Lane]:
    """The lanes of arrays, such as memory maps, that belong to a process."""
    return [LaneOfArrays(tuple(columns), lane, piece) for lane in lanes]


@dataclasses.dataclass(frozen=True)
class Converted:
    """A lane whose rows are changed as they are read."""

    lane: Lane
    change: Callable[[np.ndarray], np.ndarray]

    def __len__(self) -> int:
        return len(self.lane)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Read rows and change them."""
        return self.change(self.lane.read(start, stop))


def _joined(columns: list[np.ndarray]) -> np.ndarray:
    whole = [np.asarray(c, np.float64) for c in columns]
    return np.concatenate([c[:, None] if c.ndim == 1 else c for c in whole], axis=1)
