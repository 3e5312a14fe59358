"""Rows on which one column varies, and the others keep a typical value."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gfsvi.auto.fitted import Fitted
from gfsvi.tables.frames import as_frame, is_table

NUM_STEPS, MOST_LEVELS = 100, 12


class Walk(NamedTuple):
    """One column, its values in order, and the rows to predict at.

    `observed` has the values of that column in the rows that were given; `is_level` says that its
    values are names.
    """

    column: str
    values: np.ndarray
    rows: Any
    observed: np.ndarray
    is_level: bool


def columns_of(fitted: Fitted) -> tuple[str, ...]:
    """The columns that a fit predicts from, as its user knows them."""
    if fitted.preparation is None:
        return fitted.feature_names
    return tuple(column.name for column in fitted.preparation.columns if column.feature_names)


def walk(fitted: Fitted, table: ArrayLike | Any, column: str) -> Walk:
    """Along one column, from the smallest to the largest of its values in the rows given."""
    known = columns_of(fitted)
    if column not in known:
        raise ValueError(
            f"expected one of the columns {', '.join(map(repr, known))}; got {column!r}."
        )
    if fitted.preparation is not None:
        return _through_table(as_frame(table), known, column)
    rows = np.asarray(as_frame(table) if is_table(table) else table, np.float64)
    if rows.ndim != 2:
        raise ValueError(
            f"expected a table or rows of numbers; got an array of shape {rows.shape}. Pictures "
            "along columns are not for images."
        )
    place = known.index(column)
    values = np.linspace(rows[:, place].min(), rows[:, place].max(), NUM_STEPS)
    varied = np.tile(np.median(rows, axis=0), (NUM_STEPS, 1))
    varied[:, place] = values
    return Walk(column, values, varied, rows[:, place], False)


def _through_table(frame: Any, known: tuple[str, ...], column: str) -> Walk:
    observed = frame[column].dropna()
    is_number = observed.dtype.kind in "iuf" and observed.nunique() > 2
    is_date = observed.dtype.kind == "M"
    if is_number or is_date:
        values = _steps(observed.to_numpy("datetime64[us]" if is_date else None))
    else:
        values = observed.value_counts().index[:MOST_LEVELS].to_numpy()
    typical = frame.iloc[[0] * len(values)].loc[:, list(known)].reset_index(drop=True)
    typical = typical.assign(**{name: _typical(frame[name]) for name in known if name != column})
    rows = typical.assign(**{column: values})
    return Walk(column, values, rows, frame[column].to_numpy(), not (is_number or is_date))


def _steps(observed: np.ndarray) -> np.ndarray:
    """Evenly spaced values between the ends: whole ones of whole numbers, dates of dates."""
    kind = observed.dtype.kind
    numbers = observed.astype(np.int64) if kind == "M" else observed
    steps = np.linspace(numbers.min(), numbers.max(), NUM_STEPS)
    return np.unique(np.round(steps)).astype(observed.dtype) if kind in "iuM" else steps


def _typical(column: Any) -> Any:
    """The median of numbers and dates, the most frequent of other values."""
    known = column.dropna()
    if not len(known):
        return None
    if known.dtype.kind in "iufM":
        return known.quantile(0.5, interpolation="nearest")
    return known.mode().iloc[0]
