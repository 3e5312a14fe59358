"""Text and HTML of objects, with their numbers.

Equinox prints an array as its shape and type. What people look at here are the numbers: length
scales, noise, means.
"""

import dataclasses
import html
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from gfsvi.numerics.precision import is_key

DIGITS, FEW_DIGITS = 8, 4
"""Significant digits of `repr`, as many as NumPy's, and of a notebook."""
WIDTH, INDENT = 80, 2
_MOST_NUMBERS, _MOST_IN_TABLES = 50, 12


@runtime_checkable
class Coded(Protocol):
    """An object whose text is the code that makes it again."""

    def code(self, digits: int = DIGITS) -> str:
        """The code, with this many digits of its numbers."""
        ...


class Printed(eqx.Module):
    """A module that shows its numbers, in text and in a notebook."""

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(text_of(self, FEW_DIGITS))


def text_of(value: object, digits: int = DIGITS, *, room: int = WIDTH) -> str:
    """A value in text, on one line if it fits, with this many digits of its numbers."""
    if isinstance(value, float):
        return number_text(value, digits)
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return array_text(value, digits)
    if isinstance(value, Coded):
        return value.code(digits)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        named = zip(value._fields, value, strict=True)  # pyright: ignore[reportAttributeAccessIssue]
        return _call(type(value).__name__, dict(named), digits, room)
    if isinstance(value, tuple | list | dict):
        return _container(value, digits, room)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _call(type(value).__name__, _told_fields(value), digits, room)
    return getattr(value, "__name__", None) or repr(value)


def number_text(value: float, digits: int = DIGITS) -> str:
    """A number as Python reads it, with at most this many significant digits."""
    text = f"{value:.{digits}g}"
    return f"{text}.0" if text.lstrip("-").isdecimal() else text


def array_text(array: Any, digits: int = DIGITS) -> str:
    """The numbers of a small array as lists, or the shape and range of a large one."""
    shape = "x".join(map(str, np.shape(array)))
    if isinstance(array, Tracer):
        return f"<traced {array.dtype} {shape}>" if shape else f"<traced {array.dtype}>"
    if isinstance(array, jax.Array) and is_key(array):
        return "<random key>" if not shape else f"<{shape} random keys>"
    numbers = np.asarray(array)
    most = _MOST_NUMBERS if numbers.ndim < 2 else _MOST_IN_TABLES
    if numbers.dtype.kind not in "fiub" or not numbers.size or numbers.size > most:
        return _summary(numbers, shape, digits)
    return _listed(numbers.tolist(), digits)


def html_of(text: str) -> str:
    """Text for a notebook, with nothing in it interpreted as markup."""
    return f'<pre style="white-space: pre-wrap; margin: 0">{html.escape(text)}</pre>'


def table_html(header: list[str], rows: list[list[str]], note: str) -> str:
    """A table for a notebook, with nothing in it interpreted as markup."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return (
        f"<table><caption>{html.escape(note)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def table_text(header: list[str], rows: list[list[str]], note: str) -> str:
    """A table in text, with a line above it."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return "\n".join([note, *(f"  {line}" for line in lines)])


def _summary(numbers: np.ndarray, shape: str, digits: int) -> str:
    if numbers.dtype.kind not in "fiu" or not numbers.size:
        return f"<{shape} {numbers.dtype}>"
    few = min(digits, FEW_DIGITS)
    low, high = (f"{float(end):.{few}g}" for end in (numbers.min(), numbers.max()))
    return f"<{shape} numbers from {low} to {high}>"


def _listed(value: object, digits: int) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_listed(item, digits) for item in value)}]"
    return number_text(value, digits) if isinstance(value, float) else repr(value)


def _told_fields(value: Any) -> dict[str, object]:
    """The fields that have no default, another value than it, or numbers."""
    fields = {}
    for field in dataclasses.fields(value):
        if not field.repr or not hasattr(value, field.name):
            continue
        content = getattr(value, field.name)
        if isinstance(content, np.ndarray | jax.Array) or not _is_default(field, content):
            fields[field.name] = content
    return fields


def _is_default(field: dataclasses.Field, content: object) -> bool:
    if field.default is dataclasses.MISSING:
        return False
    return type(content) is type(field.default) and bool(eqx.tree_equal(content, field.default))


def _call(name: str, fields: dict[str, object], digits: int, room: int) -> str:
    inner = room - INDENT
    parts = [f"{key}={text_of(item, digits, room=inner)}" for key, item in fields.items()]
    return _bracketed(f"{name}(", parts, ")", room)


def _container(value: Any, digits: int, room: int) -> str:
    inner = room - INDENT
    if isinstance(value, dict):
        items = value.items()
        parts = [f"{key!r}: {text_of(item, digits, room=inner)}" for key, item in items]
        return _bracketed("{", parts, "}", room)
    parts = [text_of(item, digits, room=inner) for item in value]
    if isinstance(value, list):
        return _bracketed("[", parts, "]", room)
    return _bracketed("(", [*parts, ""] if len(parts) == 1 else parts, ")", room)


def _bracketed(opening: str, parts: list[str], closing: str, room: int) -> str:
    line = f"{opening}{', '.join(parts).rstrip()}{closing}"
    if "\n" not in line and len(line) <= room:
        return line
    indent = " " * INDENT
    inner = ",\n".join(part for part in parts if part).replace("\n", f"\n{indent}")
    return f"{opening}\n{indent}{inner}\n{closing}"
