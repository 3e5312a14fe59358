"""What the cells of a table say: numbers, texts or dates, and where they say nothing."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gfsvi.tables.reading import load_pandas

if TYPE_CHECKING:
    import pandas

_NUMBER = re.compile(r"[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*%?")
_DATE = re.compile(r"\d{4}([-/])\d{2}\1\d{2}(?:[T ]\d{2}:.*)?")
_SPELLED = {"true": 1.0, "false": 0.0, "inf": np.inf, "infinity": np.inf}
_SPELLED |= {"+inf": np.inf, "-inf": -np.inf, "-infinity": -np.inf}
_MISSING = {"?", "-", "--", ".", "n/a", "na", "n.a.", "nan", "nil", "none", "null", "missing"}
_MISSING |= {"unknown", "not available"}
# Beyond this, squares and sums of squares are no longer safe numbers.
_LARGEST = 1e100


class Numbers(NamedTuple):
    """A column read as numbers: NaN where there is none, and why there is none."""

    values: np.ndarray
    words: np.ndarray
    infinite: np.ndarray


def read_numbers(cells: "pandas.Series", missing_words: Sequence[str] = ()) -> Numbers:
    """Cells as numbers; words are cells that are neither a number nor missing."""
    if cells.dtype.kind in "iuf" or str(cells.dtype) in ("bool", "boolean"):
        values = cells.to_numpy(np.float64, na_value=np.nan).copy()
        words = np.zeros(len(cells), bool)
    else:
        codes, texts = read_texts(cells)
        parsed = [_parse_number(text) for text in texts]
        missing = _MISSING.union(word.casefold() for word in missing_words)
        # The last entry is for missing cells, whose code is -1.
        values = np.array([np.nan if p is None else p for p in parsed] + [np.nan])[codes]
        odd = [p is None and _is_word(t, missing) for p, t in zip(parsed, texts, strict=True)]
        words = np.array([*odd, False])[codes]
    infinite = np.abs(values) > _LARGEST
    values[infinite] = np.nan
    return Numbers(values, words, infinite)


def read_texts(cells: "pandas.Series") -> tuple[np.ndarray, list[str]]:
    """A code for each cell (-1 if missing) and the text that each code stands for."""
    pandas = load_pandas()
    if str(cells.dtype) in ("category", "object"):
        # True, 1 and 1.0 are one value to pandas, but three texts to a reader.
        values = cells.astype(object)
        texts = [
            None if gone else text_of(value)
            for value, gone in zip(values, values.isna(), strict=True)
        ]
        codes, unique = pandas.factorize(np.array([t or None for t in texts], object))
        return codes, list(unique)
    codes, unique = pandas.factorize(cells)
    texts = np.array([text_of(value) or None for value in unique], object)
    merged, unique = pandas.factorize(texts)
    return np.append(merged, -1)[codes], list(unique)


def read_dates(
    cells: "pandas.Series", missing_words: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Cells as times (NaT where there is none), and which of them are words instead."""
    pandas = load_pandas()
    if cells.dtype.kind == "M":
        return _as_times(pandas.to_datetime(cells, utc=True)), np.zeros(len(cells), bool)
    codes, texts = read_texts(cells)
    candidates = [t.replace("/", "-") if _DATE.fullmatch(t) else None for t in [*texts, ""]]
    parsed = pandas.to_datetime(
        pandas.Series(candidates, dtype=object), format="ISO8601", errors="coerce", utc=True
    )
    times = _as_times(parsed)
    missing = _MISSING.union(word.casefold() for word in missing_words)
    words = np.isnat(times) & np.array([*(_is_word(text, missing) for text in texts), False])
    return times[codes], words[codes]


def text_of(value: Any) -> str:
    """One way to write a value, however the file stored it: 2 and 2.0 are "2"."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, np.generic):
        value = value.item()
    return str(value).strip()


def _as_times(series: "pandas.Series") -> np.ndarray:
    return series.dt.tz_localize(None).to_numpy("datetime64[ms]")


def _is_word(text: str, missing: set[str]) -> bool:
    return text.casefold() not in missing


def _parse_number(text: str) -> float | None:
    if _NUMBER.fullmatch(text):
        return float(text.rstrip("% ").replace(",", ""))
    return _SPELLED.get(text.casefold())
