"""The first pass over a table: rows at random, and how often each text occurs."""

import dataclasses
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gfsvi.numerics.groups import Group, anyone, gathered_bytes, own_lanes
from gfsvi.streams.sampling import Place, random_numbers
from gfsvi.tables.reading import TableError
from gfsvi.tables.sources import ChangedKind, Piece, Source, TableFiles

if TYPE_CHECKING:
    import pandas
    import pyarrow

SAMPLE_CELLS, MOST_SAMPLED, FEWEST_SAMPLED = 2_000_000, 50_000, 4_000
"""Cells and rows of the sample."""
MOST_TEXTS = 100_000
"""A column with more different texts is an identifier, and its texts are not counted."""


class Scanned(NamedTuple):
    """What the first pass tells.

    Args:
        source: The table, read in a way that suits all of its cells.
        sample: Rows at random, in the order of the table.
        place: Where these are in the table.
        num_rows: The number of rows in each part of the table.
        counts: How often each text of a column occurs, for columns of text.
    """

    source: Source
    sample: "pandas.DataFrame"
    place: Place
    num_rows: np.ndarray
    counts: dict[str, dict[str, int]]


def scan(source: Source, group: Group, *, seed: int) -> Scanned:
    """Read the table once; each process reads its own lanes."""
    size = SAMPLE_CELLS // len(source.column_names)
    reservoir = _Reservoir(seed, int(np.clip(size, FEWEST_SAMPLED, MOST_SAMPLED)))
    counts: dict[str, Counter[str] | None] = {}
    num_rows: Counter[int] = Counter()
    changes = False
    try:
        for piece in source.pieces(lanes=own_lanes(group)):
            reservoir.add(piece)
            num_rows[piece.part] += len(piece.rows)
            _count(counts, piece.rows)
    except ChangedKind:
        if not isinstance(source, TableFiles) or source.as_text:
            raise
        changes = True
    if anyone(group, changes) and isinstance(source, TableFiles):
        return scan(dataclasses.replace(source, as_text=True), group, seed=seed)
    shared = [json.loads(text) for text in gathered_bytes(group, _told(num_rows, counts))]
    rows = [Counter({int(part): n for part, n in one["rows"].items()}) for one in shared]
    total = sum(rows, Counter())
    if not total:
        raise TableError(f"expected rows in {source.name}, got none; write at least one.")
    sample, place = reservoir.merged(group)
    per_part = np.array([total[part] for part in range(max(total) + 1)])
    return Scanned(source, sample, place, per_part, _added([one["counts"] for one in shared]))


class _Reservoir:
    """The rows with the smallest random numbers."""

    def __init__(self, seed: int, size: int):
        self._seed, self._size = seed, size
        self._numbers = np.zeros(0)
        self._place = Place(np.zeros(0, int), np.zeros(0, int))
        self._rows: Any = None

    def add(self, piece: Piece) -> None:
        """Keep some rows of a piece, in place of others."""
        place = Place.of_piece(piece.part, piece.first, len(piece.rows))
        numbers = random_numbers(self._seed, place)
        is_full = len(self._numbers) >= self._size
        kept = np.flatnonzero(numbers < (self._numbers.max() if is_full else 2.0))
        if len(kept):
            self._put(numbers[kept], Place(*(p[kept] for p in place)), piece.rows.take(kept))

    def _put(self, numbers: np.ndarray, place: Place, rows: "pyarrow.Table") -> None:
        import pyarrow

        numbers = np.concatenate([self._numbers, numbers])
        parts, at = (np.concatenate(pair) for pair in zip(self._place, place, strict=True))
        rows = rows if self._rows is None else pyarrow.concat_tables([self._rows, rows])
        if len(numbers) > self._size:
            best = np.sort(np.argpartition(numbers, self._size - 1)[: self._size])
            numbers, parts, at = numbers[best], parts[best], at[best]
            rows = rows.take(best).combine_chunks()
        self._numbers, self._place, self._rows = numbers, Place(parts, at), rows

    def merged(self, group: Group) -> "tuple[pandas.DataFrame, Place]":
        """The sample of all processes, in the order of the table."""
        import pyarrow

        whole = _Reservoir(self._seed, self._size)
        for content in gathered_bytes(group, self._content()):
            if content:
                reader = pyarrow.ipc.open_stream(content)
                rows = reader.read_all()
                part, at = (rows[name].to_numpy() for name in _PLACE)
                rows = rows.drop_columns(list(_PLACE))
                place = Place(part, at)
                whole._put(random_numbers(self._seed, place), place, rows)
        order = np.lexsort((whole._place.row, whole._place.part))
        rows = whole._rows.take(order)
        frame = rows.to_pandas(ignore_metadata=True, date_as_object=False)
        return frame, Place(*(p[order] for p in whole._place))

    def _content(self) -> bytes:
        """The rows and their places in the bytes of Arrow, which nothing is run to read."""
        import pyarrow

        if self._rows is None:
            return b""
        rows = self._rows
        for name, values in zip(_PLACE, self._place, strict=True):
            rows = rows.append_column(name, pyarrow.array(values))
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return sink.getvalue().to_pybytes()


_PLACE = ("__gfsvi_part__", "__gfsvi_row__")


def _count(counts: dict[str, Counter[str] | None], rows: "pyarrow.Table") -> None:
    """Count the texts of a piece, in each column that has not too many."""
    import pyarrow

    for name, column in zip(rows.column_names, rows.columns, strict=True):
        kind = column.type
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            continue
        known = counts.setdefault(name, Counter())
        if known is None:
            continue
        found = column.value_counts()
        texts, numbers = found.field("values").to_pylist(), found.field("counts").to_pylist()
        for text, number in zip(texts, numbers, strict=True):
            if text is not None and text.strip():
                known[text.strip()] += number
        if len(known) > MOST_TEXTS:
            counts[name] = None


def _told(num_rows: Counter[int], counts: dict[str, Counter[str] | None]) -> bytes:
    return json.dumps({"rows": num_rows, "counts": counts}).encode()


def _added(parts: list[dict[str, dict[str, int] | None]]) -> dict[str, dict[str, int]]:
    added: dict[str, dict[str, int]] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        found = [part[name] for part in parts if name in part]
        added[name] = {}
        if None not in found:
            added[name] = dict(sum((Counter(one) for one in found), Counter()))
    return added
