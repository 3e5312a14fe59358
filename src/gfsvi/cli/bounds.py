"""Bounds of columns as they are written on the command line."""

from collections.abc import Sequence
from typing import Any

from gfsvi.tables.reading import TableError


def parsed_bounds(texts: Sequence[str]) -> dict[str, Any]:
    """From `COLUMN=RANGE` to what `acquisition.Space` takes, by column."""
    bounds: dict[str, Any] = {}
    for text in texts:
        name, equals, written = text.rpartition("=")
        if not equals or not name or not written:
            raise TableError(
                f"--bounds expects COLUMN=RANGE, such as temperature=20:80; got {text!r}. "
                "Write the column, an equals sign and its range without spaces."
            )
        if name in bounds:
            raise TableError(
                f"--bounds expects each column once; got `{name}` again. Leave one out."
            )
        bounds[name] = _parsed(written)
    return bounds


def _parsed(written: str) -> tuple[str, ...] | list[str] | str:
    """An interval, a list of values, or one value."""
    if "," in written:
        return written.split(",")
    return tuple(written.split(":")) if ":" in written else written
