"""Tables of other libraries as frames of pandas, through Arrow's interchange protocol."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gfsvi.tables.reading import TableError, load_pandas

if TYPE_CHECKING:
    import pandas

_STREAM = "__arrow_c_stream__"


def is_table(rows: object) -> bool:
    """Whether these are the rows of a table with named columns, and not an array."""
    return hasattr(rows, "columns") or hasattr(rows, _STREAM)


def as_frame(table: Any) -> "pandas.DataFrame":
    """Convert a table of polars, Arrow, DuckDB or another library that speaks Arrow's protocol.

    A frame of pandas is returned as it is.
    """
    pandas = load_pandas()
    if isinstance(table, pandas.DataFrame):
        return table
    if not hasattr(table, _STREAM):
        hint = "Call its collect() first" if hasattr(table, "collect") else "Convert it to one"
        raise TableError(
            "expected a table of pandas, polars or Arrow; got "
            f"{type(table).__module__}.{type(table).__name__}. {hint}."
        )
    import pyarrow

    try:
        return pyarrow.table(table).to_pandas(ignore_metadata=True, date_as_object=False)
    except (pyarrow.ArrowException, TypeError) as error:
        raise TableError(
            f"expected a table with named columns of plain values; got the error '{error}' from "
            f"{type(table).__module__}.{type(table).__name__}. Convert it to a pandas DataFrame."
        ) from error


def frame_of_rows(rows: list[dict[str, Any]], columns: Sequence[str]) -> "pandas.DataFrame":
    """A frame with these columns from rows of JSON, each of which has all of them."""
    return load_pandas().DataFrame({name: [row[name] for row in rows] for name in columns})


def like(table: Any, found: "pandas.DataFrame", frame: "pandas.DataFrame") -> Any:
    """A frame of results in the library of a table; one that is neither gets a table of Arrow.

    Args:
        table: The table that results belong to.
        found: One row of results per row of it.
        frame: The table as a frame of pandas, whose index results get.
    """
    if table is frame:
        return found.set_axis(frame.index, axis=0)
    import pyarrow

    results = pyarrow.Table.from_pandas(found, preserve_index=False)
    if type(table).__module__.partition(".")[0] == "polars":
        return type(table)(results)
    return results.replace_schema_metadata(None)
