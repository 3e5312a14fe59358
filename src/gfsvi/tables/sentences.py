"""Rows, cells and column names in words, and the sentences that several recipes share."""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.tables.cells import read_texts

if TYPE_CHECKING:
    import pandas


def words_note(cells: "pandas.Series", words: np.ndarray, expected: str) -> str:
    """Say which words were found instead of numbers or dates, if any."""
    if not words.any():
        return ""
    return (
        f"column `{cells.name}` has {examples(cells, words)} instead of {expected} in "
        f"{row_count(words)}; treated as missing."
    )


def infinite_note(cells: "pandas.Series", infinite: np.ndarray) -> str:
    """Say how many numbers are too large to use, if any."""
    if not infinite.any():
        return ""
    return (
        f"column `{cells.name}` has infinite or extremely large numbers in "
        f"{row_count(infinite)}; treated as missing."
    )


def missing_note(
    cells: "pandas.Series", missing: np.ndarray, remedy: str, *, surprising: bool = False
) -> str:
    """Say how missing values are handled, if there are any, and if training had none."""
    if not missing.any():
        return ""
    rows = row_count(missing) + (" but had none in training" if surprising else "")
    return f"column `{cells.name}` has missing values in {rows}; {remedy}."


def row_count(mask: np.ndarray) -> str:
    """Count the rows that a mask marks, in words."""
    number = int(np.sum(mask))
    return f"{number} row" if number == 1 else f"{number} rows"


def examples(cells: "pandas.Series", mask: np.ndarray) -> str:
    """Quote the first few distinct texts among the marked cells."""
    texts = distinct(cells, mask)
    shown = ", ".join(f"'{text[:40]}'" for text in texts[:3])
    return f"{shown}, ..." if len(texts) > 3 else shown


def distinct(cells: "pandas.Series", mask: np.ndarray) -> tuple[str, ...]:
    """Return the distinct texts among the marked cells, in order of appearance."""
    if not mask.any():
        return ()
    codes, texts = read_texts(cells[mask])
    return tuple(texts[code] for code in dict.fromkeys(codes[codes >= 0]))


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """List column names, at most 20 of them."""
    shown = separator.join(f"`{name}`" for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def nearest(name: str, columns: Sequence[str]) -> str:
    """The columns that a misspelt name may mean, or else all of them, as a sentence."""
    by_lower = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {listed([by_lower[one] for one in near], ' or ')}?"
    return f"The columns are {listed(columns)}."
