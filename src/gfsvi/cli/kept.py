"""Columns of the user's table that are copied to the predictions."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gfsvi.tables.reading import TableError, TableFile, load_pandas
from gfsvi.tables.sentences import listed, nearest
from gfsvi.tables.sources import TableFiles

if TYPE_CHECKING:
    import pandas


def check_kept(
    file: TableFile | TableFiles, identifier: str | None, keep: Sequence[str]
) -> list[str]:
    """The columns to copy, the identifier first; raise for those that the table does not have."""
    first = [] if identifier is None else [identifier]
    names = list(dict.fromkeys(first + list(keep)))
    columns = file.column_names if names else []
    for name in names:
        if name not in columns:
            option = "--id" if name == identifier else "--keep"
            raise TableError(
                f"{option} expects a column of the table; got `{name}`. {nearest(name, columns)}"
            )
    return names


def check_not_taken(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise if a column to copy has the name of a column of the predictions."""
    taken = [name for name in names if name in columns]
    if taken:
        raise TableError(
            f"--id and --keep expect names that predictions do not have; got {listed(taken)}. "
            "Rename the column in the table."
        )


def with_kept(
    predictions: "pandas.DataFrame", file: TableFile, names: Sequence[str], identifier: str | None
) -> "pandas.DataFrame":
    """The predictions with these columns before them, as they are written in the file."""
    check_not_taken(names, list(predictions.columns))
    if not names:
        return predictions
    kept = file.as_written(names)
    if identifier is not None and kept[identifier].duplicated().any():
        number = int(kept[identifier].duplicated(keep=False).sum())
        print(f"column `{identifier}` is the same in {number} rows.", file=sys.stderr)
    return load_pandas().concat([kept, predictions], axis=1)
