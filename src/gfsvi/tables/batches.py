"""Tables that a program holds in arrays, or makes batch by batch, to be read piece by piece."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.numerics.groups import LANES
from gfsvi.numerics.parallel import read_ahead
from gfsvi.tables import sources
from gfsvi.tables.frames import as_frame
from gfsvi.tables.reading import TableError, brief, load_pandas
from gfsvi.tables.sources import Piece, TableFiles
from gfsvi.tables.targets import Task

if TYPE_CHECKING:
    import pyarrow

ROW_GROUP = 2**16
"""Rows of a group in a file of batches."""


@dataclasses.dataclass(frozen=True, eq=False)
class TableOfArrays:
    """Arrays with one entry per row, in memory or mapped from files.

    Args:
        x: Inputs, (row, feature).
        y: Targets, (row,) or (row, target).
        weights: How much each row counts.
        name: What messages call it.
    """

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None
    name: str = "the arrays"

    def __post_init__(self) -> None:
        sizes = {len(part) for part in (self.x, self.y, self.weights) if part is not None}
        if np.ndim(self.x) != 2 or np.ndim(self.y) not in (1, 2) or len(sizes) > 1:
            raise TableError(
                "TableOfArrays expects x (row, feature), y (row,) or (row, target) and perhaps "
                f"weights (row,), with as many rows; got {np.shape(self.x)}, {np.shape(self.y)} "
                f"and {None if self.weights is None else np.shape(self.weights)}."
            )

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the targets."""
        return ("y",) if np.ndim(self.y) == 1 else tuple(f"y{i}" for i in range(self.y.shape[1]))

    @property
    def weight(self) -> str | None:
        """The name of the weights, if there are any."""
        return None if self.weights is None else "weight"

    @property
    def task(self) -> Task:
        """Regression for numbers, else classification."""
        return "regression" if np.asarray(self.y[:1]).dtype.kind in "fiu" else "classification"

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        extra = [] if self.weight is None else [self.weight]
        return [*(f"x{i}" for i in range(self.x.shape[1])), *self.targets, *extra]

    def pieces(
        self, columns: Sequence[str] | None = None, lanes: range = range(LANES)
    ) -> Iterator[Piece]:
        """The pieces of these lanes, in order."""
        return read_ahead(self._pieces(columns, lanes))

    def _pieces(self, columns: Sequence[str] | None, lanes: range) -> Iterator[Piece]:
        for number, first in enumerate(range(0, len(self.x), sources.PIECE)):
            if number % LANES in lanes:
                rows = self._rows(first, first + sources.PIECE)
                kept = rows if columns is None else rows.select(list(columns))
                yield Piece(0, first, number % LANES, kept)

    def _rows(self, start: int, stop: int) -> "pyarrow.Table":
        import pyarrow

        x = np.asarray(self.x[start:stop], np.float64)
        bad = ~np.isfinite(x).all(axis=1)
        if bad.any():
            raise TableError(
                f"expected finite numbers as inputs, got others in row {start + bad.argmax()}; "
                "replace them, or write the rows to a table, whose cells may be empty."
            )
        y = np.asarray(self.y[start:stop]).reshape(len(x), -1)
        parts = [*x.T, *y.T]
        if self.weights is not None:
            parts.append(np.asarray(self.weights[start:stop]))
        return pyarrow.table([pyarrow.array(p) for p in parts], names=self.column_names)


@contextlib.contextmanager
def kept_batches(batches: Iterable[object]) -> Iterator[TableFiles]:
    """The rows of an iterable of tables, kept in a temporary file of Parquet: it is read once."""
    load_pandas()
    import pyarrow

    with tempfile.TemporaryDirectory(prefix="gfsvi-") as folder:
        path = str(Path(folder) / "batches.parquet")
        try:
            _write(path, batches)
        except (pyarrow.ArrowException, KeyError) as error:
            raise TableError(
                "expected tables with the same columns of the same kinds, got the error "
                f"'{brief(error)}'; make all batches like the first."
            ) from error
        yield dataclasses.replace(TableFiles.at(path), name="the batches")


def _write(path: str, batches: Iterable[object]) -> None:
    """Write batches in row groups of one size, so that it does not matter how they are divided."""
    import pyarrow
    from pyarrow import parquet

    tables = (pyarrow.Table.from_pandas(as_frame(b), preserve_index=False) for b in batches)
    waiting = next(tables, None)
    if waiting is None:
        raise TableError("expected at least one batch of rows, got none; give some.")
    schema = waiting.schema.remove_metadata()
    with parquet.ParquetWriter(path, schema) as writer:
        for rows in tables:
            same = rows.select(schema.names).cast(schema)
            waiting = pyarrow.concat_tables([waiting.cast(schema), same])
            while len(waiting) >= ROW_GROUP:
                writer.write_table(waiting.slice(0, ROW_GROUP))
                waiting = waiting.slice(ROW_GROUP)
        writer.write_table(waiting.cast(schema), row_group_size=ROW_GROUP)
