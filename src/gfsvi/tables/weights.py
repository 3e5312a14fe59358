"""Read row weights from a column of a table."""

from typing import TYPE_CHECKING

import numpy as np

from gfsvi.tables.cells import read_numbers
from gfsvi.tables.reading import TableError
from gfsvi.tables.sentences import nearest, row_count

if TYPE_CHECKING:
    import pandas


def read_weights(frame: "pandas.DataFrame", column: str) -> np.ndarray:
    """Return one weight per row; raise unless all are at least zero."""
    if column not in frame.columns:
        raise TableError(
            f"expected a column `{column}` with weights, got none of that name. "
            f"{nearest(column, list(map(str, frame.columns)))}"
        )
    weights = read_numbers(frame[column]).values
    unusable = ~(weights >= 0)
    if unusable.any():
        raise TableError(
            f"expected weights of at least 0 in column `{column}`, got something else in "
            f"{row_count(unusable)}; correct or remove these rows."
        )
    return weights
