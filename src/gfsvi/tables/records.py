"""Recipes and other parts of a preparation as plain values for JSON, and back with suspicion."""

import dataclasses
import math
from typing import Any

from gfsvi.tables.cells import text_of
from gfsvi.tables.columns import AbstractColumn, Categories, Date, Dropped, Numeric
from gfsvi.tables.targets import Label

_KINDS = {kind.kind: kind for kind in (Numeric, Date, Categories, Dropped)}


def plain(owner: Any) -> dict[str, Any]:
    """The fields of an object, tuples as lists."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in vars(owner).items()}


def column_to_json(column: AbstractColumn) -> dict[str, Any]:
    """Plain values from which `column_from_json` makes an equal recipe."""
    return {"kind": column.kind, **plain(column)}


def column_from_json(record: Any) -> AbstractColumn:
    """Undo `column_to_json`; anything but what it writes is refused."""
    kind = _KINDS.get(str(record.get("kind"))) if isinstance(record, dict) else None
    if kind is None:
        raise ValueError(f"a column expects one of the kinds {list(_KINDS)}; got {record!r}.")
    fields = dataclasses.fields(kind)
    check_entries(record, {"kind", *(field.name for field in fields)}, f"a {kind.kind} column")
    return kind(**{field.name: _value(record, field.name, field.type) for field in fields})


def columns_from_json(records: Any) -> tuple[AbstractColumn, ...]:
    """A recipe for each record: different names, and a feature at least."""
    if not isinstance(records, list):
        raise ValueError(f"a preparation expects a list of columns; got {records!r}.")
    columns = tuple(column_from_json(record) for record in records)
    some_used = any(column.feature_names for column in columns)
    if not some_used or len({column.name for column in columns}) < len(columns):
        raise ValueError("a preparation expects columns of different names, one in use.")
    return columns


def labels_from_json(value: Any) -> tuple[Label, ...]:
    """The labels of a classification, which are at least two."""
    known = isinstance(value, list) and all(isinstance(x, (str, int, float)) for x in value)
    if not known or len({text_of(x) for x in value}) < max(2, len(value)):
        raise ValueError(f"classes expect at least two different labels; got {value!r}.")
    return tuple(value)


def texts_from_json(record: dict[str, Any], name: str) -> tuple[str, ...]:
    """An entry that is a list of texts."""
    value = record[name]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} expects a list of texts; got {value!r}.")
    return tuple(value)


def check_entries(record: Any, expected: set[str], owner: str) -> None:
    """Refuse a record with other entries than these."""
    if not isinstance(record, dict) or set(record) != expected:
        got = sorted(map(str, record)) if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"{owner} expects the entries {sorted(expected)}; got {got}.")


def _value(record: dict[str, Any], name: str, wanted: Any) -> Any:
    value = record[name]
    if wanted == tuple[str, ...]:
        return texts_from_json(record, name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = is_number and math.isfinite(value) if wanted is float else isinstance(value, wanted)
    if not fits:
        raise ValueError(f"{name} expects a {wanted.__name__}; got {value!r}.")
    return wanted(value)
