"""The page about a fitted estimator."""

from os import PathLike, fspath
from typing import NamedTuple

import numpy as np

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import Labels
from gfsvi.numerics.extras import check_extra
from gfsvi.tables import PreparedTable
from gfsvi.tables.frames import as_frame
from gfsvi.tables.reading import load_pandas


class Arrays(NamedTuple):
    """The rows and targets of `fit(X, y)`."""

    x: np.ndarray
    y: np.ndarray


class RowsOfFit(NamedTuple):
    """What an estimator was fitted to, and the weights of all rows."""

    rows: PreparedTable | Arrays
    weights: np.ndarray | None


def write_page_of(
    fitted: Fitted, known: RowsOfFit | None, path: str | PathLike[str], table: object | None
) -> None:
    """Write the page about a fit and the rows that it was fitted to.

    Args:
        fitted: The fit.
        known: The rows of the fit, if they are in memory.
        path: The HTML file to write.
        table: The training table, where the rows are not in memory.
    """
    check_extra("report", "report()")
    check_extra("tables", "report()")
    from gfsvi.report import write_page

    if table is not None:
        known = RowsOfFit(_prepared(fitted, table), None)
    if known is None:
        raise ValueError(
            "report expects the rows of the fit, which a model file does not hold; got none. "
            "Pass the training table: report(path, table)."
        )
    rows = known.rows if isinstance(known.rows, PreparedTable) else _as_table(fitted, known.rows)
    targets = _target_names(np.shape(rows.y)[1:])
    write_page(fitted, rows, fspath(path), targets=targets, weights=known.weights)


def _prepared(fitted: Fitted, table: object) -> PreparedTable:
    if fitted.preparation is None:
        raise ValueError(
            "report expects a table only after fit_table; got one for a model that was fitted to "
            "arrays. Fit it again in this session, or with fit_table."
        )
    return fitted.preparation.prepare(as_frame(table))


def _as_table(fitted: Fitted, arrays: Arrays) -> PreparedTable:
    """Rows of numbers as a table whose columns are the features and the targets."""
    if arrays.x.ndim != 2:
        raise ValueError(
            f"report expects rows of numbers; got images of shape {arrays.x.shape[1:]}. "
            "See `diagnostics_` and `history_` instead."
        )
    names = _target_names(arrays.y.shape[1:])
    columns = dict(zip(fitted.feature_names, arrays.x.T, strict=True))
    columns |= dict(zip(names, np.reshape(arrays.y, (len(arrays.y), -1)).T, strict=True))
    frame, y = load_pandas().DataFrame(columns), arrays.y
    if isinstance(fitted.target, Labels):
        y = np.searchsorted(np.array(fitted.target.classes), y)
    return PreparedTable(frame, np.ones(len(y), bool), arrays.x, y)


def _target_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"y{number + 1}" for number in range(shape[0])) if shape else ("y",)
