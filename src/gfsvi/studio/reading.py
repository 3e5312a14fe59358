"""Read values from JSON that a page or a file sent; what does not fit gets one sentence."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gfsvi.storage.fields import described

T = TypeVar("T")
LONGEST_TEXT = 500


class WorkspaceError(ValueError):
    """A workspace that cannot be used; the message says what was expected."""


class Reader:
    """One JSON object, read field by field.

    Args:
        content: The object.
        where: What it describes, for messages.
    """

    def __init__(self, content: Any, where: str):
        if not isinstance(content, dict):
            raise WorkspaceError(f"{where} expects an object; got {described(content)}.")
        self._content, self._where = content, where

    def number(self, name: str, default: float | None = None, *, positive: bool = False) -> float:
        """A finite number."""
        value = self._content.get(name, default)
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not math.isfinite(value) or abs(value) > 1e150 or (positive and value <= 0):
            kind = "a positive number" if positive else "a finite number"
            raise self._error(name, kind, value)
        return float(value)

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number within bounds."""
        value = self._content.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._error(name, f"a whole number from {low} to {high}", value)
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """A text of moderate length."""
        value = self._content.get(name, default)
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise self._error(name, f"a text of at most {LONGEST_TEXT} characters", value)
        return value

    def choice(self, name: str, options: Sequence[str], default: str | None = None) -> str:
        """One of several texts."""
        value = self.text(name, default)
        if value not in options:
            raise self._error(name, f"one of {', '.join(options)}", value)
        return value

    def flag(self, name: str) -> bool:
        """True or false; false by default."""
        value = self._content.get(name, False)
        if not isinstance(value, bool):
            raise self._error(name, "true or false", value)
        return value

    def list(self, name: str, read: Callable[[Any], T], most: int, least: int = 0) -> tuple[T, ...]:
        """A list of at most so many items."""
        value = self._content.get(name, [])
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise self._error(name, f"a list of {least} to {most} items", value)
        return tuple(read(item) for item in value)

    def inner(self, name: str) -> "Reader":
        """An object inside this one."""
        return Reader(self._content.get(name, {}), f"{name} of {self._where}")

    def array(self, name: str, shape: tuple[int, ...], most: int) -> np.ndarray:
        """Rows of finite numbers; `shape` is that of one row."""
        value = self._content.get(name, [])
        try:
            found = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            found = np.full(1, np.nan)
        if isinstance(value, list) and not value:
            return np.zeros((0, *shape))
        if found.shape[1:] != shape or found.ndim != 1 + len(shape) or len(found) > most:
            raise self._error(name, f"at most {most} rows of {math.prod(shape)} numbers", value)
        if not np.all(np.abs(found) <= 1e150):
            raise self._error(name, "finite numbers", value)
        return found

    def content(self, name: str) -> Any:
        """What stands under a name, to be read elsewhere."""
        return self._content.get(name)

    def names(self) -> tuple[str, ...]:
        """The names of all fields."""
        return tuple(self._content)

    def _error(self, name: str, expected: str, value: object) -> WorkspaceError:
        got = "nothing" if value is None else described(value)
        return WorkspaceError(f"{self._where} expects {expected} as {name}; got {got}.")


def text_item(value: Any) -> str:
    """A text in a list."""
    return Reader({"name": value}, "a list of names").text("name")


def whole_item(value: Any) -> int:
    """A whole number in a list."""
    return Reader({"number": value}, "a list of whole numbers").whole("number", 0, 0, 100_000)
