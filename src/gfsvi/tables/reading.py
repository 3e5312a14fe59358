"""Read tables from CSV and Parquet files into frames, and write them back."""

import contextlib
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from gfsvi.numerics.extras import missing_sentence
from gfsvi.storage.files import WriteError, atomic_path

if TYPE_CHECKING:
    import pandas

FilePath = str | os.PathLike[str]

_PARQUET = (".parquet", ".pq")
_FOREIGN = {
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "an Excel workbook or a zip archive; save it as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x80": "a pickle or another binary file; save the table as CSV",
}
_DECIMAL_POINT = re.compile(rb"(?:^|[;\t\n])[+-]?\d+\.\d+(?=[;\t\r\n]|$)")
_DECIMAL_COMMA = re.compile(rb"(?:^|[;\t\n])[+-]?\d+,\d+(?=[;\t\r\n]|$)")
# Newer versions of pandas do this by default, and warn if asked to.
FIRST_BYTES = 65_536
"""Of a CSV file, which tell what separates its cells."""
_EXACT = {"float_precision": "round_trip"}


class TableError(ValueError):
    """A table that cannot be used; the message says what was expected and how to fix it."""


def load_pandas() -> ModuleType:
    """Import pandas, which is needed only where a table is used."""
    try:
        import pandas
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise TableError(missing_sentence("tables", "a table", [str(error.name)])) from error
    return pandas


class TableFile:
    """A CSV or Parquet file; the column names of CSV are known before pandas is imported."""

    def __init__(self, path: FilePath, data: bytes | None = None):
        """Read a file, or the bytes of one that is already read."""
        data = read_bytes(Path(path)) if data is None else _unpacked(data, path)
        if not data:
            raise TableError(
                f"expected a table in {path}, got an empty file; write column names and rows to it."
            )
        self._path, self._is_parquet = path, Path(path).suffix.lower() in _PARQUET
        self._data = data if self._is_parquet else _text(data, path)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, which are unique."""
        if self._is_parquet:
            with _parquet(self._path) as parquet:
                names = parquet.read_schema(io.BytesIO(self._data)).names
        else:
            names = next(_rows(self._data, _separator(self._data, self._path), self._path), [])
        check_names(names, self._path)
        return data_names(names) if self._is_parquet else names

    def frame(self) -> "pandas.DataFrame":
        """Read all rows, numbered from 0."""
        parse = _parse_parquet if self._is_parquet else _parse_csv
        frame = parse(self._data, self._path)
        if frame.empty:
            raise TableError(
                f"expected rows in {self._path}, got only column names; "
                "write at least one row below them."
            )
        return frame.reset_index(drop=True)

    def as_written(self, names: Sequence[str]) -> "pandas.DataFrame":
        """The cells of some columns as the file has them: leading zeros and all."""
        frame = self.frame() if self._is_parquet else _parse_csv(self._data, self._path, names)
        return frame.loc[:, list(names)].reset_index(drop=True)


def read_table(path: FilePath) -> "pandas.DataFrame":
    """Read a CSV or Parquet file; rows are numbered from 0."""
    return TableFile(path).frame()


def write_table(frame: "pandas.DataFrame", path: FilePath) -> None:
    """Write a frame without its index to a CSV or Parquet file, atomically."""
    suffix = Path(path).suffix.lower()
    with atomic_path(path) as temporary:
        try:
            if suffix in _PARQUET:
                frame.to_parquet(temporary, index=False)
            else:
                separator = "\t" if suffix == ".tsv" else ","
                frame.to_csv(temporary, index=False, sep=separator, encoding="utf-8")
        except (TypeError, ValueError) as error:
            raise WriteError(
                f"expected columns that {path} can hold, got the error '{brief(error)}'; "
                "give each column a single type, a unique name and valid text."
            ) from error


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if gzip has packed them; raise with a sentence."""
    try:
        return _unpacked(path.read_bytes(), path)
    except FileNotFoundError as error:
        raise TableError(f"expected a table, got no file at {path}; check the path.") from error
    except IsADirectoryError as error:
        raise TableError(
            f"expected a table, got the directory {path}; name a file inside it."
        ) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unpacked(data: bytes, path: FilePath) -> bytes:
    try:
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: FilePath, error: Exception) -> TableError:
    if isinstance(error, TableError):
        return error
    return TableError(
        f"expected a readable file at {path}, got the error '{brief(error)}'; "
        "check its permissions and that it is complete."
    )


def _text(data: bytes, path: FilePath) -> bytes:
    """Remove the byte order mark of a CSV file; raise unless it is UTF-8."""
    for beginning, kind in _FOREIGN.items():
        if data.startswith(beginning):
            raise TableError(f"expected CSV text in {path}, got {kind}.")
    if b"\0" in data:
        raise TableError(
            f"expected CSV text in {path}, got a binary file; save the table as CSV in UTF-8."
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"expected UTF-8 text in {path}, got other bytes in line {line}; save it as UTF-8."
        ) from error
    return data.removeprefix(b"\xef\xbb\xbf")


def _parse_csv(data: bytes, path: FilePath, as_written: Sequence[str] = ()) -> "pandas.DataFrame":
    """Read CSV; of columns that are wanted as written, their texts alone."""
    pandas = load_pandas()
    separator = _separator(data, path)
    _check_rows(_rows(data, separator, path), path)
    comma = separator != "," and _DECIMAL_COMMA.search(data) and not _DECIMAL_POINT.search(data)
    try:
        return pandas.read_csv(
            io.BytesIO(data),
            sep=separator,
            decimal="," if comma else ".",
            index_col=False,
            low_memory=False,
            **{"dtype": str, "keep_default_na": False} if as_written else {},
            **_EXACT if pandas.__version__ < "3.1" else {},
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError, ValueError) as error:
        raise _unreadable_csv(path, error) from error


def _separator(data: bytes, path: FilePath) -> str:
    """The character that splits the first row into most names."""
    return max(",;\t", key=lambda character: len(next(_rows(data, character, path), [])))


def _check_rows(rows: Iterator[list[str]], path: FilePath) -> None:
    header = next(rows, [])
    check_names(header, path)
    for row in rows:  # pandas would fill short rows and shift long ones
        if len(row) != len(header):
            raise TableError(
                f"expected {len(header)} values in every row of {path}, got {len(row)} in the row "
                f"that begins with '{row[0][:40]}'; check its separators and quotes."
            )


def _rows(data: bytes, separator: str, path: FilePath) -> Iterator[list[str]]:
    """Iterate over the rows of a CSV file that are not blank."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    try:
        for row in csv.reader(text, delimiter=separator):
            if len(row) > 1 or "".join(row).strip():
                yield row
    except csv.Error as error:
        raise _unreadable_csv(path, error) from error


def _unreadable_csv(path: FilePath, error: Exception) -> TableError:
    return TableError(
        f"expected a table in {path}, got the error '{brief(error)}'; check separators and quotes."
    )


def separator_of(path: FilePath) -> str:
    """What separates the cells of a CSV file, from its first bytes."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else open(path, "rb") as file:
            beginning = file.read(FIRST_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(Path(path), error) from error
    # What may be cut off at the end must not count.
    whole = beginning[: beginning.rfind(b"\n") + 1] or beginning
    return _separator(_text(whole, path), path)


def check_names(names: Sequence[str], path: FilePath) -> None:
    """Raise unless every column has a name of its own."""
    nameless = [str(i) for i, name in enumerate(names, 1) if not str(name).strip()]
    if nameless or not names:
        raise TableError(
            f"expected a name for each column of {path}, got none for column "
            f"{', '.join(nameless[:5]) or '1'}; name or remove it (pandas writes row numbers "
            "without a name unless given `index=False`)."
        )
    repeated = list(dict.fromkeys(name for name in names if list(names).count(name) > 1))
    if repeated:
        shown = ", ".join(f"`{name}`" for name in repeated[:5])
        raise TableError(
            f"expected unique column names in {path}, got {shown} more than once; "
            "rename or remove one."
        )


def _parse_parquet(data: bytes, path: FilePath) -> "pandas.DataFrame":
    with _parquet(path) as parquet:
        table = parquet.read_table(io.BytesIO(data))
        check_names(table.column_names, path)
        return table.select(data_names(table.column_names)).to_pandas(ignore_metadata=True)


@contextlib.contextmanager
def _parquet(path: FilePath) -> Iterator[ModuleType]:
    """The module that reads Parquet files, with errors that name the file."""
    load_pandas()
    import pyarrow
    import pyarrow.parquet

    try:
        yield pyarrow.parquet
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(
            f"expected a Parquet file at {path}, got the error '{brief(error)}'; "
            "check that it is complete and really is Parquet."
        ) from error


def data_names(names: Sequence[str]) -> list[str]:
    """All names but those of row labels, which pandas stores without a name."""
    return [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]


def brief(error: BaseException) -> str:
    """The message of an error in one line."""
    message = getattr(error, "strerror", None) or str(error)
    return " ".join(message.split())[:160].rstrip(".")
