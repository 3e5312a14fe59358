"""Format numbers, names and cells for a page; `backticks` mark names from the user's table."""

import math
from collections.abc import Sequence

import numpy as np

PERCENT = "\N{NO-BREAK SPACE}%"
_MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NARROW NO-BREAK SPACE}"
_LARGEST_WHOLE = 1e10
_GROUPED_DIGITS = 5  # 2007 may be a year


def number(value: float) -> str:
    """Format a number with three significant digits."""
    value = float(value)
    if not math.isfinite(value):
        return "not finite"
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1e7 or size < 1e-4:
        return f"{value:.2e}".replace("-", _MINUS)
    return _with_decimals(value, max(0, 2 - math.floor(math.log10(size))))


def beside(value: float, error: float) -> str:
    """Format a number with two digits of its error, but at least three of its own."""
    value, error = float(value), float(error)
    size = abs(value)
    usual = math.isfinite(value) and math.isfinite(error) and error > 0 and 1e-4 <= size < 1e7
    if not usual:
        return number(value)
    decimals = max(1 - math.floor(math.log10(error)), 2 - math.floor(math.log10(size)))
    return _with_decimals(value, min(decimals, 6))


def _usual(value: float) -> str:
    return tick(value) if math.isfinite(value) else number(value)


def tick(value: float) -> str:
    """Format a number beside an axis."""
    size = abs(float(value))
    if size >= 1e7 or 0 < size < 1e-4:
        return f"{value:g}".replace("-", _MINUS)
    return grouped(f"{value:.6g}" if size < 1e5 else f"{value:.0f}")


def grouped(text: str) -> str:
    """Separate the thousands of a number of five digits or more, and write a true minus."""
    sign, digits = (_MINUS, text[1:]) if text.startswith("-") else ("", text)
    whole, point, rest = digits.partition(".")
    if len(whole) >= _GROUPED_DIGITS and whole.isdigit():
        whole = f"{int(whole):,}".replace(",", _THIN)
    return sign + whole + point + rest


def _with_decimals(value: float, decimals: int) -> str:
    rounded = round(value, decimals)  # a negative number of decimals leaves zeros
    return grouped(f"{rounded:.{max(0, decimals)}f}")


def counted(value: int, noun: str) -> str:
    """Count things: 1 row, 12 rows."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float) -> str:
    """Format a share as a percentage; only exactly 0 and 1 become 0 % and 100 %."""
    hundred = 100 * float(share)
    if 0 < hundred <= 0.5:  # 0.5 would be rounded to the even 0
        return f"< 1{PERCENT}"
    if 99.5 <= hundred < 100:
        return f"> 99{PERCENT}"
    return f"{hundred:.0f}{PERCENT}"


def count(value: int) -> str:
    """Format a whole number with separated thousands."""
    return grouped(str(value))


def shortened(text: object, length: int = 40) -> str:
    """Shorten a name to at most `length` characters on one line."""
    line = " ".join(str(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def quoted(name: str) -> str:
    """Shorten a name from the user's table and mark it as one."""
    return f"`{shortened(name).replace('`', chr(39))}`"


def listed(items: Sequence[str], most: int = 6) -> str:
    """Join items with commas and a final `and`."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    if len(shown) <= 1:
        return "".join(shown)
    return ", ".join(shown[:-1]) + " and " + shown[-1]


def between(low: float, high: float) -> str:
    """Format an interval; the ends of intervals of counts are whole numbers."""
    if float(low).is_integer() and float(high).is_integer():
        return f"{tick(low)} to {tick(high)}"
    error = (float(high) - float(low)) / 4
    return f"{beside(low, error)} to {beside(high, error)}"


def cell(value: object) -> str:
    """Format a cell of the table, with up to six digits."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        if math.isnan(value):
            return "missing"
        is_whole = float(value).is_integer() and abs(value) < _LARGEST_WHOLE
        return grouped(f"{value:.0f}") if is_whole else _usual(float(value))
    text = str(value).removesuffix(" 00:00:00").removesuffix("T00:00:00")  # a date
    return "missing" if value is None or text in ("nan", "NaT", "<NA>") else shortened(text, 24)
