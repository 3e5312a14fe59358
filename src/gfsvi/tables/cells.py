"""Parse the cells of a column as numbers, texts or dates, and mark those that are missing."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gfsvi.tables.reading import load_pandas

if TYPE_CHECKING:
    import pandas

_NUMBER = re.compile(r"[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*%?")
_DATE = re.compile(r"(\d{4})([-/]?)(\d{2})\2(\d{2})([T ]\d{2}:.*)?")
_OTHER_DATE = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})([T ]\d{2}:.*)?")
DATE_STYLES = ("year first", "day first", "month first")
_SPELLED = {"true": 1.0, "false": 0.0, "inf": np.inf, "infinity": np.inf}
_SPELLED |= {"+inf": np.inf, "-inf": -np.inf, "-infinity": -np.inf}
_MISSING = {"?", "-", "--", ".", "n/a", "na", "n.a.", "nan", "nil", "none", "null", "missing"}
_MISSING |= {"unknown", "not available"}
# Squares, and sums of squares, of larger numbers may overflow.
_LARGEST = 1e100


class Numbers(NamedTuple):
    """A column parsed as numbers: NaN where there is none, with masks that say why."""

    values: np.ndarray
    words: np.ndarray
    infinite: np.ndarray


def read_numbers(cells: "pandas.Series", missing_words: Sequence[str] = ()) -> Numbers:
    """Parse cells as numbers; `words` marks cells that are neither a number nor missing."""
    if cells.dtype.kind in "iuf" or str(cells.dtype) in ("bool", "boolean"):
        values = cells.to_numpy(np.float64, na_value=np.nan).copy()
        words = np.zeros(len(cells), bool)
    else:
        codes, texts = read_texts(cells)
        parsed = [_parse_number(text) for text in texts]
        # The last entry is for missing cells, whose code is -1.
        values = np.array([np.nan if p is None else p for p in parsed] + [np.nan])[codes]
        unparsed = np.array([*(p is None for p in parsed), False])
        words = (unparsed & _are_words(texts, missing_words))[codes]
    infinite = np.abs(values) > _LARGEST
    values[infinite] = np.nan
    return Numbers(values, words, infinite)


def read_texts(cells: "pandas.Series") -> tuple[np.ndarray, list[str]]:
    """Return a code per cell (-1 if missing) and the text that each code stands for."""
    pandas = load_pandas()
    if str(cells.dtype) in ("category", "object"):
        # True, 1 and 1.0 are one value to pandas, but three different texts.
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
    cells: "pandas.Series", missing_words: Sequence[str] = (), style: str = DATE_STYLES[0]
) -> tuple[np.ndarray, np.ndarray]:
    """Parse cells as times (NaT where there is none), and mark those that are words instead.

    `style` is one of `DATE_STYLES`: how dates are written.
    """
    pandas = load_pandas()
    if cells.dtype.kind == "M":
        return _as_times(pandas.to_datetime(cells, utc=True)), np.zeros(len(cells), bool)
    codes, texts = read_texts(cells)
    candidates = [_iso_date(text, style) for text in [*texts, ""]]
    parsed = pandas.to_datetime(
        pandas.Series(candidates, dtype=object), format="ISO8601", errors="coerce", utc=True
    )
    times = _as_times(parsed)
    words = np.isnat(times) & _are_words(texts, missing_words)
    return times[codes], words[codes]


def text_of(value: object) -> str:
    """Write a value in one way, however the file stored it: 2 and 2.0 are both "2"."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, np.generic):
        value = value.item()
    return str(value).strip()


def has_value(cells: "pandas.Series") -> np.ndarray:
    """Mark the cells that are neither missing nor blank."""
    if cells.dtype.kind == "O":
        return read_texts(cells)[0] >= 0
    return np.asarray(cells.notna())


def _iso_date(text: str, style: str) -> str | None:
    """A date written as 2020-02-01, 2020/02/01 or 20200201, with a time or without.

    In the other styles as 1-2-2020, 01/02/2020 or 01.02.2020.
    """
    found = (_DATE if style == DATE_STYLES[0] else _OTHER_DATE).fullmatch(text)
    if found is None:
        return None
    if style == DATE_STYLES[0]:
        return "-".join(found.group(1, 3, 4)) + (found.group(5) or "")
    day, month = found.group(1, 3) if style == "day first" else found.group(3, 1)
    return f"{found.group(4)}-{month:0>2}-{day:0>2}" + (found.group(5) or "")


def _as_times(series: "pandas.Series") -> np.ndarray:
    return series.dt.tz_localize(None).to_numpy("datetime64[ms]")


def _are_words(texts: Sequence[str], missing_words: Sequence[str]) -> np.ndarray:
    """Mark texts that do not stand for a missing value; a last entry is for missing cells."""
    missing = _MISSING.union(word.casefold() for word in missing_words)
    return np.array([*(text.casefold() not in missing for text in texts), False])


def _parse_number(text: str) -> float | None:
    if _NUMBER.fullmatch(text):
        return float(text.rstrip("% ").replace(",", ""))
    return _SPELLED.get(text.casefold())
