"""Recognise a table whose rows are in time order."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gfsvi.tables.cells import read_dates, read_numbers, read_texts
from gfsvi.tables.reading import load_pandas
from gfsvi.tables.recognition import are_dates

if TYPE_CHECKING:
    import pandas

_FEWEST_TIMES = 5
_CALENDAR = re.compile(r"(?:^|[^a-z])(?:date|time|year|yr)$")
_TIMESTAMP = re.compile(r"(?:^|[^a-z])(?:datetime|epoch|timestamp|unix)(?:$|[^a-z])")
_YEARS = (1500, 2200)
# Day first or month first: the one in which the rows are in order.
_STYLES = ("%d-%m-%Y", "%m-%d-%Y")
_STYLED = re.compile(r"\d{1,2}-\d{1,2}-\d{4}")


class TimeOrder(NamedTuple):
    """The column that the rows are sorted by, and the time of each row as a number."""

    column: str
    times: np.ndarray

    def latest(self, num_rows: int) -> np.ndarray:
        """Sorted positions of about this many latest rows; rows of one time stay together."""
        order = np.argsort(self.times, kind="stable")
        cut = len(order) - num_rows
        start = int(np.searchsorted(self.times[order], self.times[order[cut]]))
        return np.sort(order[start if len(order) - start <= 2 * num_rows else cut :])


def time_order(frame: "pandas.DataFrame") -> TimeOrder | None:
    """The first column of dates or years that the rows are sorted by, if there is one.

    The newest row may be the first or the last.
    """
    for name in frame.columns:
        for times in _readings(frame[name]):
            steps = np.diff(times)
            in_order = np.all(steps >= 0) or np.all(steps <= 0)
            if in_order and len(np.unique(times)) >= _FEWEST_TIMES:
                return TimeOrder(str(name), times)
    return None


def _readings(cells: "pandas.Series") -> Iterator[np.ndarray]:
    """The ways to read a column as times, in which no cell is missing."""
    if cells.dtype.kind in "iuf":
        yield from _numbers(cells)
        return
    if cells.dtype.kind not in "MO":
        return
    found = [read_dates(cells)[0]] if are_dates(cells) else _other_styles(cells)
    for times in found:
        if not np.isnat(times).any():
            yield times.astype("datetime64[ms]").astype(np.float64)


def _numbers(cells: "pandas.Series") -> Iterator[np.ndarray]:
    values, name = read_numbers(cells).values, str(cells.name).lower()
    if not len(values) or np.isnan(values).any():
        return
    is_calendar = bool(np.all((values >= _YEARS[0]) & (values <= _YEARS[1])))
    if are_dates(cells) or _TIMESTAMP.search(name) or (is_calendar and _CALENDAR.search(name)):
        yield values


def _other_styles(cells: "pandas.Series") -> Iterator[np.ndarray]:
    """Dates that are written day first or month first, and cannot be told apart one by one."""
    codes, texts = read_texts(cells)
    texts = [re.sub(r"[/.]", "-", text).split(" ")[0] for text in texts]
    if len(texts) < _FEWEST_TIMES or (codes < 0).any():
        return
    for style in _STYLES if all(map(_STYLED.fullmatch, texts)) else ():
        parsed = load_pandas().to_datetime(texts, format=style, errors="coerce")
        yield parsed.to_numpy("datetime64[ms]")[codes]
