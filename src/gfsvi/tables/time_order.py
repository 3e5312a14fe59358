"""Recognise a table whose rows are in time order."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gfsvi.tables.cells import DATE_STYLES, read_dates, read_numbers
from gfsvi.tables.recognition import are_dates

if TYPE_CHECKING:
    import pandas

_FEWEST_TIMES = 5
_CALENDAR = re.compile(r"(?:^|[^a-z])(?:date|time|year|yr)$")
_TIMESTAMP = re.compile(r"(?:^|[^a-z])(?:datetime|epoch|timestamp|unix)(?:$|[^a-z])")
_YEARS = (1500, 2200)


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
    for style in DATE_STYLES[:1] if are_dates(cells) else DATE_STYLES[1:]:
        times = read_dates(cells, style=style)[0]
        if not np.isnat(times).any():
            yield times.astype("datetime64[ms]").astype(np.float64)


def _numbers(cells: "pandas.Series") -> Iterator[np.ndarray]:
    values, name = read_numbers(cells).values, str(cells.name).lower()
    if not len(values) or np.isnan(values).any():
        return
    is_calendar = bool(np.all((values >= _YEARS[0]) & (values <= _YEARS[1])))
    if are_dates(cells) or _TIMESTAMP.search(name) or (is_calendar and _CALENDAR.search(name)):
        yield values
