"""Recognise what a column holds: numbers, dates, codes, an identifier or a constant."""

import re
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.tables.cells import DATE_STYLES, Numbers, read_dates, read_texts

if TYPE_CHECKING:
    import pandas

_MANY_NUMBERS = 20  # a column named like an identifier with more distinct numbers is one
_MOST_WORDS = 0.2  # largest share of words in a column of numbers or dates
_IDENTIFIER = re.compile(r"(?:^|[^a-z])(?:id|ids|uuid|guid|identifier)$")
_NUMBERING = re.compile(r"(?:^|[^a-z])(?:index|idx|key|no|nr|num|number|row|serial|record)$")
_TIME = re.compile(r"(?:^|[^a-z])(?:age|date|day|hour|minute|month|second|step|time|week|year)s?$")

_DATED = re.compile(r"(?:^|[^a-z])(?:date|day|ymd)(?:$|[^a-z])")


def are_dates(cells: "pandas.Series") -> bool:
    """Whether a column holds dates, apart from a few words.

    Numbers such as 20200201 are dates if the name says so.
    """
    is_named = bool(_DATED.search(_spaced(str(cells.name))))
    if cells.dtype.kind not in ("MOiuf" if is_named else "MO") or str(cells.dtype) == "category":
        return False
    times, words = read_dates(cells)
    return bool((~np.isnat(times)).any()) and are_few(words, cells)


def date_style(cells: "pandas.Series") -> str | None:
    """How a column writes its dates; None if it has none, or they could be read in two ways.

    Day first or month first: the one that is possible, or else the one in which rows are sorted.
    """
    if are_dates(cells):
        return DATE_STYLES[0]
    if cells.dtype.kind != "O":
        return None
    possible = {}
    for style in DATE_STYLES[1:]:
        times, words = read_dates(cells, style=style)
        if not words.any() and (~np.isnat(times)).any():
            possible[style] = np.diff(times[~np.isnat(times)]).astype(np.int64)
    if len(possible) == 1:
        return next(iter(possible))
    sorted_by = [s for s, steps in possible.items() if np.all(steps >= 0) or np.all(steps <= 0)]
    return sorted_by[0] if len(sorted_by) == 1 else None


def are_numbers(numbers: Numbers) -> bool:
    """Whether a column holds numbers, apart from a few words."""
    found = np.sum(~np.isnan(numbers.values)) + np.sum(numbers.infinite)
    words = np.sum(numbers.words)
    return bool(found > 0 and words <= _MOST_WORDS * (found + words))


def are_few(words: np.ndarray, cells: "pandas.Series") -> bool:
    """Whether the marked words are few enough to be treated as missing."""
    if not words.any():  # as in most columns, of which there may be thousands
        return True
    return bool(np.sum(words) <= _MOST_WORDS * cells.notna().sum())


def has_leading_zeros(cells: "pandas.Series") -> bool:
    """Whether a column holds codes such as 01234, which would lose the zero as a number."""
    is_text = cells.dtype.kind == "O"
    return is_text and any(re.fullmatch(r"0\d+", text) for text in read_texts(cells)[1])


def looks_like_identifier(name: str, present: np.ndarray) -> bool:
    """Whether the name and the values suggest whole numbers that identify rows."""
    if np.any(present != np.round(present)):
        return False
    distinct = len(np.unique(present))
    all_differ = distinct == len(present)
    named = _IDENTIFIER.search(_spaced(name))
    return bool(
        (named and distinct > _MANY_NUMBERS)
        or (all_differ and (named or _NUMBERING.search(_spaced(name))))
    )


def counts_rows(name: str, present: np.ndarray) -> bool:
    """Whether values increase by one from row to row, unless the name suggests a time."""
    steps = np.diff(present)
    # Not every step has to be 1: rows without a target have been removed.
    counting = np.all(steps >= 1) and np.mean(steps == 1) >= 0.9
    return bool(counting and not _TIME.search(_spaced(name)))


def is_constant(values: np.ndarray) -> bool:
    """Whether values differ by no more than rounding errors."""
    return bool(np.ptp(values) <= max(1e-100, 1e-14 * np.max(np.abs(values))))


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
