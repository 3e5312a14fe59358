"""Write a table piece by piece; the file appears when it is complete."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gfsvi.storage.files import WriteError, atomic_path
from gfsvi.tables.reading import FilePath, brief

if TYPE_CHECKING:
    import pandas

_PARQUET = (".parquet", ".pq")


@contextlib.contextmanager
def writing(path: FilePath) -> "Iterator[Callable[[pandas.DataFrame], None]]":
    """Within it, a function that appends frames to a CSV or Parquet file."""
    with atomic_path(path) as draft, contextlib.ExitStack() as opened:
        suffix = Path(path).suffix.lower()
        kind = _Parquet if suffix in _PARQUET else _Csv
        append = kind(draft, opened, suffix)

        def checked(frame: "pandas.DataFrame") -> None:
            try:
                append(frame)
            except (TypeError, ValueError) as error:
                raise WriteError(
                    f"expected columns that {path} can hold, got the error '{brief(error)}'; "
                    "give each column a single type, a unique name and valid text."
                ) from error

        yield checked


class _Parquet:
    """The first frame decides on the types."""

    def __init__(self, draft: Path, opened: contextlib.ExitStack, suffix: str):
        self._draft, self._opened = draft, opened
        self._writer: Any = None

    def __call__(self, frame: "pandas.DataFrame") -> None:
        import pyarrow
        import pyarrow.parquet

        if self._writer is None:
            table = pyarrow.Table.from_pandas(frame, preserve_index=False)
            writer = pyarrow.parquet.ParquetWriter(self._draft, table.schema)
            self._writer = self._opened.enter_context(writer)
        schema = self._writer.schema
        self._writer.write_table(
            pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
        )


class _Csv:
    """The first frame has the header."""

    def __init__(self, draft: Path, opened: contextlib.ExitStack, suffix: str):
        self._file = opened.enter_context(draft.open("w", encoding="utf-8", newline=""))
        self._separator, self._is_first = "\t" if suffix == ".tsv" else ",", True

    def __call__(self, frame: "pandas.DataFrame") -> None:
        frame.to_csv(self._file, index=False, sep=self._separator, header=self._is_first)
        self._is_first = False
