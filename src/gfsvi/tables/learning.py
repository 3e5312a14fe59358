"""Choose a recipe for each column of a training table."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.tables.cells import Numbers, read_dates, read_numbers, read_texts
from gfsvi.tables.columns import AbstractColumn, Categories, Date, Dropped, Numeric, days_since
from gfsvi.tables.reading import TableError
from gfsvi.tables.recognition import (
    are_numbers,
    counts_rows,
    date_style,
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
    """Choose a recipe for each column, and say what a user should know about them."""
    columns = [_learn_column(frame[name]) for name in frame.columns]
    if not any(column.feature_names for column in columns):
        # If there is no other input, a column that counts the rows may be one after all.
        columns = [_learn_column(frame[name], keep_counts=True) for name in frame.columns]
    columns = _without_duplicates(frame, columns)
    remarks = [remark for column in columns for remark in column.remarks(frame[column.name])]
    if not any(column.feature_names for column in columns):
        raise TableError(
            "expected at least one usable column to predict from, got none"
            f"{': ' if remarks else ''}{' '.join(remarks[:3]).rstrip('.')}; add other columns."
        )
    return tuple(columns), tuple(remarks)


def _learn_column(cells: "pandas.Series", keep_counts: bool = False) -> AbstractColumn:
    if str(cells.dtype) != "category":
        style = date_style(cells)
        if style is not None:
            return _learn_date(cells, style)
        numbers = read_numbers(cells)
        if are_numbers(numbers) and not has_leading_zeros(cells):
            return _learn_numeric(cells, numbers, keep_counts)
    return _learn_categories(cells)


def _learn_date(cells: "pandas.Series", style: str) -> AbstractColumn:
    times, words = read_dates(cells, style=style)
    present = times[~np.isnat(times)]
    if present.min() == present.max():
        return _learn_categories(cells)
    first = np.datetime_as_string(present.min())
    median = _median(days_since(first, present))
    has_missing = len(present) < len(times)
    words_seen = distinct(cells, words)
    return Date(str(cells.name), first, median, has_missing, words_seen, style)


def _learn_numeric(cells: "pandas.Series", numbers: Numbers, keep_counts: bool) -> AbstractColumn:
    name, present = str(cells.name), numbers.values[~np.isnan(numbers.values)]
    has_missing = len(present) < len(cells)
    if not present.size:
        return Dropped(name, "it has no finite values")
    if is_constant(present):
        # Whether a value is missing may still be informative.
        return _learn_categories(cells) if has_missing else _constant_column(name)
    if looks_like_identifier(name, present):
        return Dropped(name, "its name and whole numbers look like an identifier")
    if not keep_counts and counts_rows(name, present):
        return Dropped(name, "it counts the rows like an identifier")
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
        f"{len(counts)} distinct texts in {counts.sum()} rows look like an identifier or free "
        "text (dates are best written as YYYY-MM-DD)"
    )


def _too_rare(counts: np.ndarray) -> str:
    return (
        f"it has {len(counts)} categories, and the {_MOST_LEVELS} most frequent cover "
        "less than a tenth of the rows"
    )


def _without_duplicates(
    frame: "pandas.DataFrame", columns: Sequence[AbstractColumn]
) -> list[AbstractColumn]:
    """Drop the columns that duplicate an earlier one."""
    first: dict[tuple[type[AbstractColumn], tuple[str, ...], bytes], str] = {}
    kept: list[AbstractColumn] = []
    for column in columns:
        # Adding 0 turns -0 into 0.
        encoded = np.ascontiguousarray(column.encode(frame[column.name]) + 0.0)
        content = hashlib.blake2b(encoded).digest()
        levels = column.levels if isinstance(column, Categories) else ()
        key = (type(column), levels, content)
        twin = first.setdefault(key, column.name) if column.feature_names else column.name
        is_duplicate = twin != column.name
        reason = f"it duplicates column `{twin}`"
        kept.append(Dropped(column.name, reason) if is_duplicate else column)
    return kept


def _constant_column(name: str) -> Dropped:
    return Dropped(name, "it has the same value in every row")


def _median(values: np.ndarray) -> float:
    # Always a value of the column: booleans have no 0.5.
    return float(np.quantile(values, 0.5, method="inverted_cdf"))
