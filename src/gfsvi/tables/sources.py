"""Tables that may be larger than memory: files, folders and patterns, read piece by piece."""

import dataclasses
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gfsvi.numerics.groups import LANES
from gfsvi.numerics.parallel import read_ahead
from gfsvi.tables.reading import (
    FilePath,
    TableError,
    brief,
    check_names,
    data_names,
    load_pandas,
    separator_of,
)

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import pyarrow.dataset

PIECE = 16_384
"""Rows in a piece; pieces are dealt out to lanes in turn."""
LARGE = 32 * 2**20
"""Bytes of a table, as numbers of 8 bytes, from which it is read piece by piece."""
ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}
PACKED = 6
"""Bytes of text per byte of a file that gzip has packed, about."""
MANY_FILES = 4 * LANES
"""With so many files or row groups, each belongs to one lane as a whole."""
MISSING = ["", "#N/A", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]


class Piece(NamedTuple):
    """Some rows of a table: which part of it they are from, the first of them, and the lane."""

    part: int
    first: int
    lane: int
    rows: "pyarrow.Table"

    def frame(self) -> "pandas.DataFrame":
        """The rows, numbered from 0."""
        return self.rows.to_pandas(ignore_metadata=True, date_as_object=False)


class Source(Protocol):
    """A table whose rows are read piece by piece, as often as they are needed."""

    @property
    def name(self) -> str:
        """What the user called it."""
        ...

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, which are unique."""
        ...

    def pieces(
        self, columns: Sequence[str] | None = None, lanes: range = range(LANES)
    ) -> Iterator[Piece]:
        """The pieces of these lanes, in order."""
        ...


@dataclasses.dataclass(frozen=True)
class TableFiles:
    """CSV or Parquet files with the same columns.

    Args:
        name: What the user called them.
        paths: The files, in order.
        kind: "csv" or "parquet".
        as_text: Whether the cells of CSV are read as text, because their kind changes.
    """

    name: str
    paths: tuple[str, ...]
    kind: str
    as_text: bool = False

    @classmethod
    def at(cls, path: FilePath) -> "TableFiles":
        """The files of a path, a folder or a pattern; raise if there are none."""
        found = _paths(os.fspath(path))
        kinds = {_kind(name) for name in found}
        if not found or len(kinds) > 1 or None in kinds:
            what = "none" if not found else "files of several kinds"
            raise TableError(
                f"expected CSV or Parquet files at {path}, got {what}; check the path or pattern."
            )
        (kind,) = kinds
        return cls(os.fspath(path), tuple(found), str(kind))

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, which are unique."""
        names = [str(name) for name in self._dataset().schema.names]
        check_names(names, self.name)
        return data_names(names)

    @property
    def num_bytes(self) -> int:
        """About how large the table would be as numbers of eight bytes."""
        if self.kind == "csv":
            sizes = [os.path.getsize(p) * (PACKED if p.endswith(".gz") else 1) for p in self.paths]
            return sum(sizes)
        dataset = self._dataset()
        with _sentences(self.name):
            return 8 * dataset.count_rows() * len(dataset.schema.names)

    @property
    def num_rows(self) -> int | None:
        """The number of rows, if it is known without reading them."""
        if self.kind == "csv":
            return None
        with _sentences(self.name):
            return self._dataset().count_rows()

    @property
    def is_large(self) -> bool:
        """Whether the table is read piece by piece unless the user says otherwise."""
        return self.num_bytes > LARGE

    def pieces(
        self, columns: Sequence[str] | None = None, lanes: range = range(LANES)
    ) -> Iterator[Piece]:
        """The pieces of these lanes, in order; other row groups of Parquet are not read."""
        return read_ahead(self._pieces(columns, lanes))

    def frame(self) -> "pandas.DataFrame":
        """All rows in memory, numbered from 0."""
        frames = [piece.frame() for piece in self.pieces()]
        if not any(map(len, frames)):
            raise TableError(f"expected rows in {self.name}, got none; write at least one.")
        return load_pandas().concat(frames, ignore_index=True)

    def _pieces(self, columns: Sequence[str] | None, lanes: range) -> Iterator[Piece]:
        dataset = self._dataset()
        names = self.column_names if columns is None else list(columns)
        number = 0
        with _sentences(self.name):
            parts = _parts(dataset)
            for part, fragment in enumerate(parts):
                own = part % LANES if len(parts) >= MANY_FILES else None
                count = None if self.kind == "csv" else -(-fragment.count_rows() // PIECE)
                theirs = range(number, number + (count or 0))
                if own is not None and own not in lanes:
                    continue
                if own is None and count is not None and not _any_in(theirs, lanes):
                    number += count
                    continue
                first = 0
                for rows in _sliced(fragment, dataset.schema, names):
                    lane = number % LANES if own is None else own
                    if lane in lanes:
                        yield Piece(part, first, lane, rows)
                    number, first = number + 1, first + len(rows)

    def _dataset(self) -> "pyarrow.dataset.Dataset":
        load_pandas()
        import pyarrow.dataset

        with _sentences(self.name):
            found = pyarrow.dataset.dataset(list(self.paths), format=self._format())
            if self.kind == "csv":
                schema = _widened(found.schema, self.as_text)
                options = self._format(dict(zip(schema.names, schema.types, strict=True)))
                found = pyarrow.dataset.dataset(list(self.paths), schema, format=options)
            return found

    def _format(self, types: dict[str, Any] | None = None) -> Any:
        import pyarrow.csv
        import pyarrow.dataset

        if self.kind == "parquet":
            return "parquet"
        convert = pyarrow.csv.ConvertOptions(
            strings_can_be_null=True, null_values=MISSING, column_types=types
        )
        parse = pyarrow.csv.ParseOptions(delimiter=separator_of(self.paths[0]))
        return pyarrow.dataset.CsvFileFormat(parse_options=parse, convert_options=convert)


def _parts(dataset: "pyarrow.dataset.Dataset") -> list[Any]:
    """Files of CSV, row groups of Parquet."""
    found: list[Any] = []
    for fragment in dataset.get_fragments():
        split = getattr(fragment, "split_by_row_group", None)
        found += [fragment] if split is None else split()
    return found


def _sliced(fragment: Any, schema: Any, names: list[str]) -> Iterator["pyarrow.Table"]:
    """The rows of a part, `PIECE` of them at a time."""
    import pyarrow

    waiting: list[Any] = []
    count = 0
    options = {"columns": names, "batch_size": PIECE, "batch_readahead": 2, "use_threads": False}
    for batch in fragment.to_batches(schema=schema, **options):
        waiting, count = [*waiting, batch], count + len(batch)
        while count >= PIECE:
            whole = pyarrow.Table.from_batches(waiting)
            yield whole.slice(0, PIECE)
            rest = whole.slice(PIECE)
            waiting, count = rest.to_batches(), len(rest)
    if count:
        yield pyarrow.Table.from_batches(waiting)


def _widened(schema: Any, as_text: bool) -> Any:
    """The types of CSV columns, which were told from the first rows: whole numbers may end."""
    import pyarrow

    def widened(kind: Any) -> Any:
        if as_text or pyarrow.types.is_null(kind):
            return pyarrow.string()
        return pyarrow.float64() if pyarrow.types.is_integer(kind) else kind

    return pyarrow.schema([(field.name, widened(field.type)) for field in schema])


def _any_in(numbers: range, lanes: range) -> bool:
    return len(numbers) >= LANES or any(number % LANES in lanes for number in numbers)


def _paths(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = (str(p) for p in Path(path).rglob("*") if p.is_file())
        return sorted(p for p in inside if _kind(p) is not None)
    if any(mark in path for mark in "*?[") and not os.path.exists(path):
        return sorted(p for p in glob.glob(path, recursive=True) if os.path.isfile(p))
    return [path] if os.path.isfile(path) else []


def _kind(path: str) -> str | None:
    return ENDINGS.get(Path(path.removesuffix(".gz")).suffix.lower())


class ChangedKind(TableError):
    """Cells of a CSV column that are not of the kind that its first cells are."""


class _sentences:
    """Errors of Arrow in the words of this library, with the name of the table."""

    def __init__(self, name: str):
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import pyarrow

        if not isinstance(error, pyarrow.ArrowException | OSError):
            return
        changed = "conversion error" in str(error)
        raise (ChangedKind if changed else TableError)(
            f"expected tables that can be read at {self._name}, got the error '{brief(error)}'; "
            "check that the files are complete and have the same columns."
        ) from error
