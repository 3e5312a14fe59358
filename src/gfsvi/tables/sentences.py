"""Rows, cells and names in words, and the sentences that several recipes share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gfsvi.tables.cells import Numbers, read_texts

if TYPE_CHECKING:
    import pandas


def words_note(cells: "pandas.Series", words: np.ndarray, wanted: str) -> str:
    """Say which words stand where numbers or dates were wanted, if any."""
    if not words.any():
        return ""
    return (
        f"column `{cells.name}` has {examples(cells, words)} in place of {wanted} in "
        f"{row_count(words)}: taken as missing."
    )


def infinite_note(cells: "pandas.Series", numbers: Numbers) -> str:
    """Say how many numbers are too large to be used, if any."""
    if not numbers.infinite.any():
        return ""
    return (
        f"column `{cells.name}` has {row_count(numbers.infinite)} with infinite or "
        "astronomically large numbers: taken as missing."
    )


def unexpected_note(cells: "pandas.Series", missing: np.ndarray, stand_in: str) -> str:
    """Say what is assumed for gaps in a column that had none in training."""
    return (
        f"column `{cells.name}` has {row_count(missing)} without a value, which training had not: "
        f"{stand_in} assumed."
    )


def missing_note(name: str, missing: np.ndarray, remedy: str, mark: str) -> str:
    """Say what is done about gaps in training, if any, and which feature marks them."""
    if not missing.any():
        return ""
    return (
        f"column `{name}` has {row_count(missing)} without a value: {remedy}, marked by `{mark}`."
    )


def row_count(mask: Any) -> str:
    """The number of rows that a mask marks."""
    number = int(np.sum(mask))
    return f"{number} row" if number == 1 else f"{number} rows"


def examples(cells: "pandas.Series", mask: Any) -> str:
    """The first few different texts among the marked cells."""
    texts = distinct(cells, np.asarray(mask))
    shown = ", ".join(f"'{text[:40]}'" for text in texts[:3])
    return f"{shown}, ..." if len(texts) > 3 else shown


def distinct(cells: "pandas.Series", mask: np.ndarray) -> tuple[str, ...]:
    """The different texts among the marked cells, in order of appearance."""
    codes, texts = read_texts(cells[mask])
    return tuple(texts[code] for code in dict.fromkeys(codes[codes >= 0]))


def listed(names: Sequence[str], joint: str = ", ") -> str:
    """Names of columns, as many as one cares to read."""
    shown = joint.join(f"`{name}`" for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown
