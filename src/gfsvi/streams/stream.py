"""Rows for inference that are read block by block, in one process or in several."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from gfsvi.data import Data
from gfsvi.numerics.devices import mesh_of_process
from gfsvi.numerics.groups import LANES, Group, total
from gfsvi.numerics.parallel import Threads, read_ahead
from gfsvi.streams.lanes import Lane

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
WINDOW_ELEMENTS = 1_000_000
"""Numbers of a lane that are shuffled in memory together."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """Which columns of a lane are inputs, targets and weights, and what targets are.

    Args:
        num_features: The first columns are inputs.
        num_targets: As many columns after them are targets; 0 for one target without an axis.
        has_weights: Whether the last column is the weight of each row.
        are_labels: Whether targets are class numbers.
    """

    num_features: int
    num_targets: int = 0
    has_weights: bool = False
    are_labels: bool = False

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.num_features + max(1, self.num_targets) + self.has_weights

    def data(self, columns: np.ndarray) -> Data:
        """Rows of a lane as inputs, targets and weights."""
        x, rest = columns[:, : self.num_features], columns[:, self.num_features :]
        y = rest[:, : self.num_targets] if self.num_targets else rest[:, 0]
        y = y.astype(np.int64) if self.are_labels else y
        return Data(x, y, rest[:, -1] if self.has_weights else None)


@dataclasses.dataclass(frozen=True, eq=False)
class Stream:
    """Rows on the model's scale that are read when they are needed.

    Args:
        lanes: The lanes of this process.
        layout: What their columns are.
        sample: Some of the rows, in memory, at random.
        num_rows: The number of rows in all lanes of all processes.
        group: The processes that share the rows.
        seed: Determines how rows are shuffled.
        on_added: Told how many rows have just been added up.
    """

    lanes: Sequence[Lane]
    layout: Layout
    sample: Data
    num_rows: int
    group: Group
    seed: int = 0
    on_added: Callable[[int], None] | None = None
    threads: Threads = dataclasses.field(default_factory=Threads)

    def __len__(self) -> int:
        return self.num_rows

    @property
    def num_own_rows(self) -> int:
        """The number of rows in the lanes of this process."""
        return sum(map(len, self.lanes))

    def blocks(self, lane: Lane, size: int) -> Iterator[Data]:
        """The rows of a lane in order."""
        parts = (lane.read(start, start + size) for start in range(0, len(lane), size))
        return map(self.layout.data, read_ahead(parts))

    def added(self, of_block: Callable[[Data], S], size: int) -> S:
        """The sum over all rows of all processes, added up in one order."""
        of_lane = partial(self._of_lane, of_block, size)
        return total(self.group, self.in_threads(of_lane, self.lanes))

    def in_threads(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Results in the order of the items, computed in threads with one core each."""
        if mesh_of_process() is not None:
            # Programs for several devices wait for each other if threads start them in two orders.
            return list(map(function, items))
        return self.threads.map(function, items)

    def _of_lane(self, of_block: Callable[[Data], S], size: int, lane: Lane) -> S:
        found: Any = None
        for block in self.blocks(lane, size):
            part = of_block(block)
            found = part if found is None else found + part
            if self.on_added is not None:
                self.on_added(len(block))
        # A lane without rows counts as a block of rows that weigh nothing.
        return self._nothing(of_block) if found is None else found

    def _nothing(self, of_block: Callable[[Data], S]) -> S:
        one: Any = of_block(self.sample.take(slice(0, 1)))
        if isinstance(one, np.ndarray):
            return cast(S, np.zeros_like(one))
        return type(one)(*(np.zeros_like(part) for part in one))


class Batches:
    """Batches of shuffled rows: as many from each lane, whichever process it belongs to.

    In every pass over a lane its blocks are read in another order, a window of them at a time, and
    the rows of a window are shuffled. A batch depends on the number of its step alone.
    """

    def __init__(self, stream: Stream, batch_size: int):
        self._stream = stream
        self._per_lane = max(1, batch_size // LANES)
        rows = max(self._per_lane, WINDOW_ELEMENTS // stream.layout.width)
        self._window = rows // self._per_lane * self._per_lane
        self._block = max(1, self._window // 16)
        self._kept: dict[int, tuple[tuple[int, int], np.ndarray]] = {}

    @property
    def size(self) -> int:
        """Rows in a batch, over all processes."""
        return LANES * self._per_lane

    def of(self, step: int) -> list[Data]:
        """The rows of this step, one part per lane of this process; lanes may be empty."""
        stream = self._stream
        return [self._of_lane(number, lane, step) for number, lane in enumerate(stream.lanes)]

    def _of_lane(self, number: int, lane: Lane, step: int) -> Data:
        # A short lane gives what it has.
        count = min(self._per_lane, len(lane))
        if count == 0:
            return self._stream.layout.data(lane.read(0, 0))
        per_pass = max(1, len(lane) // self._per_lane)
        one_pass, place = divmod(step, per_pass)
        window, inside = divmod(place * self._per_lane, self._window)
        rows = self._shuffled(number, lane, one_pass, window)
        return self._stream.layout.data(rows[inside : inside + count])

    def _shuffled(self, number: int, lane: Lane, one_pass: int, window: int) -> np.ndarray:
        known, rows = self._kept.get(number, (None, None))
        if rows is not None and known == (one_pass, window):
            return rows
        first = self._stream.group.rank * len(self._stream.lanes) + number
        random = np.random.default_rng([self._stream.seed, first, one_pass])
        starts = random.permutation(-(-len(lane) // self._block)) * self._block
        rows = self._read(lane, starts, window)
        random = np.random.default_rng([self._stream.seed, first, one_pass, window])
        rows = rows[random.permutation(len(rows))]
        self._kept[number] = ((one_pass, window), rows)
        return rows

    def _read(self, lane: Lane, starts: np.ndarray, window: int) -> np.ndarray:
        """The rows of a window: of the blocks in this order, those from its first to its last."""
        lengths = np.minimum(starts + self._block, len(lane)) - starts
        ends = np.cumsum(lengths)
        begin, end = window * self._window, (window + 1) * self._window
        parts = []
        for start, length, last in zip(starts, lengths, ends, strict=True):
            low, high = max(begin, last - length), min(end, last)
            if low < high:
                offset = start - (last - length)
                parts.append(lane.read(offset + low, offset + high))
        return np.concatenate(parts)
