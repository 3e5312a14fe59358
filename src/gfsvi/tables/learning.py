"""How the recipe of each column is chosen from a training table."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.tables.cells import Numbers, read_dates, read_numbers, read_texts
from gfsvi.tables.columns import AbstractColumn, Categories, Date, Dropped, Numeric, days_since
from gfsvi.tables.reading import TableError
from gfsvi.tables.recognition import (
    are_dates,
    are_numbers,
    counts_rows,
    has_leading_zeros,
    is_constant,
    looks_like_identifier,
)
from gfsvi.tables.sentences import distinct

if TYPE_CHECKING:
    import pandas

_MOST_LEVELS = 20


def learn_columns(
    frame: "pandas.DataFrame",
) -> tuple[tuple[AbstractColumn, ...], tuple[str, ...]]:
    """A recipe for each column, and what a user should know about them."""
    columns = [_learn_column(frame[name]) for name in frame.columns]
    if not any(column.feature_names for column in columns):
        # What counts the rows may be the input after all if there is no other.
        columns = [_learn_column(frame[name], keep_counts=True) for name in frame.columns]
    columns = _without_repetition(frame, columns)
    remarks = [remark for column in columns for remark in column.remarks(frame[column.name])]
    if not any(column.feature_names for column in columns):
        raise TableError(
            "expected a column to predict from, got none of use"
            f"{': ' if remarks else ''}{' '.join(remarks[:3]).rstrip('.')}; add other columns."
        )
    return tuple(columns), tuple(remarks)


def _learn_column(cells: "pandas.Series", keep_counts: bool = False) -> AbstractColumn:
    if str(cells.dtype) != "category":
        if are_dates(cells):
            return _learn_date(cells)
        numbers = read_numbers(cells)
        if are_numbers(numbers) and not has_leading_zeros(cells):
            return _learn_numeric(cells, numbers, keep_counts)
    return _learn_categories(cells)


def _learn_date(cells: "pandas.Series") -> AbstractColumn:
    times, words = read_dates(cells)
    present = times[~np.isnat(times)]
    if present.min() == present.max():
        return _learn_categories(cells)
    first = np.datetime_as_string(present.min())
    median = _median(days_since(first, present))
    has_missing = len(present) < len(times)
    return Date(str(cells.name), first, median, has_missing, distinct(cells, words))


def _learn_numeric(cells: "pandas.Series", numbers: Numbers, keep_counts: bool) -> AbstractColumn:
    name, present = str(cells.name), numbers.values[~np.isnan(numbers.values)]
    has_missing = len(present) < len(cells)
    if not present.size:
        return Dropped(name, "it has no finite values")
    if is_constant(present):
        # Whether there is a value may still say something.
        return _learn_categories(cells) if has_missing else _constant_column(name)
    if looks_like_identifier(name, present):
        return Dropped(name, "whole numbers under such a name look like an identifier")
    if not keep_counts and counts_rows(name, present):
        return Dropped(name, "it counts the rows, as an identifier does")
    words = distinct(cells, numbers.words)
    return Numeric(name, _median(present), has_missing, words)


def _learn_categories(cells: "pandas.Series") -> AbstractColumn:
    name, (codes, texts) = str(cells.name), read_texts(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    if not texts:
        return Dropped(name, "it has no values")
    if len(texts) == 1 and (codes >= 0).all():
        return _constant_column(name)
    if len(texts) > max(1, 0.5 * counts.sum()):
        return Dropped(name, _free_text(counts))
    order = sorted(range(len(texts)), key=lambda code: (-counts[code], texts[code]))
    kept = order[:_MOST_LEVELS]
    if counts[kept].sum() < 0.1 * counts.sum():
        return Dropped(name, _too_rare(counts))
    levels = tuple(texts[code] for code in kept)
    return Categories(name, levels, len(texts) > _MOST_LEVELS, bool((codes < 0).any()))


def _free_text(counts: np.ndarray) -> str:
    return (
        f"{len(counts)} different texts in {counts.sum()} rows look like an identifier or free "
        "text (dates are understood as YYYY-MM-DD)"
    )


def _too_rare(counts: np.ndarray) -> str:
    return (
        f"it has {len(counts)} categories, of which the {_MOST_LEVELS} most frequent make up "
        "less than a tenth of the rows"
    )


def _without_repetition(
    frame: "pandas.DataFrame", columns: Sequence[AbstractColumn]
) -> list[AbstractColumn]:
    """The same columns, but those that repeat an earlier one are dropped."""
    first: dict[tuple[type[AbstractColumn], tuple[str, ...], bytes], str] = {}
    kept: list[AbstractColumn] = []
    for column in columns:
        # Adding 0 makes -0 and 0 one.
        encoded = np.ascontiguousarray(column.encode(frame[column.name]) + 0.0)
        content = hashlib.blake2b(encoded).digest()
        levels = column.levels if isinstance(column, Categories) else ()
        key = (type(column), levels, content)
        twin = first.setdefault(key, column.name) if column.feature_names else column.name
        repeats = twin != column.name
        kept.append(Dropped(column.name, f"it repeats column `{twin}`") if repeats else column)
    return kept


def _constant_column(name: str) -> Dropped:
    return Dropped(name, "it has one value in all rows")


def _median(values: np.ndarray) -> float:
    # A value of the column itself: no half truths among booleans.
    return float(np.quantile(values, 0.5, method="inverted_cdf"))
