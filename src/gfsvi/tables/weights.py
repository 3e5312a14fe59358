"""Weights of rows, from a column of a table."""

from typing import TYPE_CHECKING

import numpy as np

from gfsvi.tables.cells import read_numbers
from gfsvi.tables.reading import TableError

if TYPE_CHECKING:
    import pandas


def read_weights(frame: "pandas.DataFrame", column: str) -> np.ndarray:
    """One weight per row; raise unless all are numbers of at least zero."""
    if column not in frame.columns:
        raise TableError(
            f"expected a column `{column}` with weights, got none of that name; "
            f"the table has {', '.join(f'`{name}`' for name in list(frame.columns)[:8])}."
        )
    weights = read_numbers(frame[column]).values
    unusable = int(np.sum(~(weights >= 0)))
    if unusable:
        raise TableError(
            f"expected weights of at least 0 in column `{column}`, got something else in "
            f"{unusable} row{'s' if unusable > 1 else ''}; correct or remove these rows."
        )
    return weights
