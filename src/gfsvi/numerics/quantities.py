"""Lengths in the units of a column, written as text: "3 weeks", "1 year", "50"."""

import math
import re
from typing import NamedTuple

_SECOND = 1 / 86_400
_YEAR = 365.2425
_DAYS = {
    "second": _SECOND,
    "minute": 60 * _SECOND,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": _YEAR / 12,
    "year": _YEAR,
}
"""The days in each unit of time; months and years have their average length."""
_SHORT = {"s": "second", "sec": "second", "min": "minute", "h": "hour", "d": "day", "yr": "year"}
_FORM = re.compile(r"(~?)\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([a-zA-Z]*)")
_EXAMPLES = '"3 weeks" or "1 year" for dates, "50" in the units of a column of numbers'


class Quantity(NamedTuple):
    """A positive number of units; without a unit, in those of the column.

    One that is not exact, "~3 weeks", is where learning starts.
    """

    value: float
    unit: str | None
    is_exact: bool

    @property
    def days(self) -> float:
        """The same quantity of time in days."""
        if self.unit is None:
            raise ValueError("a quantity without a unit has no days")
        return self.value * _DAYS[self.unit]


def parsed(text: str) -> Quantity:
    """Read a quantity; raise if the text is none."""
    match = _FORM.fullmatch(text.strip())
    try:
        value = float(match.group(2)) if match else math.nan
    except ValueError:
        value = math.nan
    if match is None or not 0 < value < math.inf:
        raise ValueError(f"expected a number, or a text such as {_EXAMPLES}; got {text!r}.")
    return Quantity(value, _unit(match.group(3), text), not match.group(1))


def checked(text: str) -> str:
    """The text, if it is a quantity."""
    parsed(text)
    return text.strip()


def time_text(days: float, digits: int = 4) -> str:
    """A time in the largest unit of which there is at least one, with this many digits."""
    fitting = [unit for unit, length in _DAYS.items() if days >= 0.9995 * length]
    unit = fitting[-1] if fitting else "second"
    number = f"{days / _DAYS[unit]:.{digits}g}"
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def _unit(word: str, text: str) -> str | None:
    if not word:
        return None
    name = word if word in _DAYS else word.removesuffix("s")
    name = _SHORT.get(word, name)
    if name not in _DAYS:
        known = ", ".join(f"{unit}s" for unit in _DAYS)
        raise ValueError(
            f"expected a unit of time among {known}, or a number alone in the units of the "
            f"column; got {text!r}. For example: {_EXAMPLES}."
        )
    return name
