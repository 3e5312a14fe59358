"""Format numbers, names and cells for a page; `backticks` mark names from the user's table."""

import math
from collections.abc import Sequence

import numpy as np

PERCENT = "\N{NO-BREAK SPACE}%"
_MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NARROW NO-BREAK SPACE}"


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
    if size >= 1000:
        return f"{value:,.0f}".replace(",", _THIN).replace("-", _MINUS)
    decimals = max(0, 2 - math.floor(math.log10(size)))
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text and size >= 100 else text
    return text.replace("-", _MINUS)


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
    return f"{value:,}".replace(",", _THIN)


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


def listed_numbers(values: np.ndarray) -> str:
    """Join the numbers of several outputs."""
    return "; ".join(number(value) for value in values)


def between(low: float, high: float) -> str:
    """Format an interval."""
    return f"{number(low)} to {number(high)}"


def cell(value: object) -> str:
    """Format a cell of the table; whole numbers have no decimals."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        if math.isnan(value):
            return "missing"
        is_whole = float(value).is_integer() and abs(value) < 1e6
        return str(int(value)).replace("-", _MINUS) if is_whole else number(float(value))
    is_missing = value is None or str(value) in ("nan", "NaT", "<NA>")
    return "missing" if is_missing else shortened(value, 24)
