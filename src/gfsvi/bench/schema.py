"""What the keys of an experiment file, and the fields of a record, may hold."""

import math
from collections.abc import Mapping
from types import UnionType
from typing import Any, get_args, get_origin

from gfsvi.storage.fields import described, is_of

MAX_RUNS = 100_000
MAX_NUMBER = 2**31 - 1
_PLAIN = (str, bool, int, float)
_OF_EXPERIMENTS = {
    "title": (str, "text"),
    "task": (str, "the name of a task"),
    "datasets": (tuple[str, ...], "a list of names"),
    "folds": (int | tuple[int, ...], "their number or a list of numbers"),
    "seeds": (tuple[int, ...], "a list of whole numbers"),
    "fewer_folds": (dict[str, int], "a table of numbers"),
    "settings": (dict, "a table"),
    "methods": (dict[str, dict], "a table for each method"),
    "chosen": (dict[str, dict[str, dict]], "tables by method and data set"),
    "search": (dict, "a table"),
    "report": (dict, "a table"),
}
_OF_SEARCH = {
    "trials": (int, "a whole number"),
    "metric": (str, "the name of a metric"),
    "space": (dict, "a table"),
}
_OF_REPORT = {
    "text": (str, "text"),
    "metrics": (tuple[str, ...], "a list of names"),
    "ranked": (tuple[str, ...], "a list of names"),
    "glance": (tuple[str, ...], "a list of names"),
    "published": (str, "a name"),
    "published_as": (dict[str, str], "a table of names"),
    "titles": (dict[str, str], "a table of names"),
    "panels": (tuple[tuple[str, ...], ...], "a list of lists of names"),
}
_OF_RECORDS = {
    **dict.fromkeys(("run", "experiment", "task", "dataset", "method", "version", "status"), str),
    **dict.fromkeys(("fold", "seed"), int),
    "settings": dict,
    "environment": dict[str, str | int | None],
    "metrics": dict[str, float],
    "seconds": float,
    "error": str,
    "partial": dict[str, str],
    "series": dict[str, list],
}
_NEEDED = {"experiment", "dataset", "method", "fold", "seed", "version", "metrics"}
_OF_ENVIRONMENTS = ("jax", "numpy", "python", "machine", "cores")


def problem_of_experiment(content: dict[str, Any]) -> str | None:
    """What is wrong with the content of an experiment file, in words, if anything."""
    tables = {"": (content, _OF_EXPERIMENTS)}
    for name, expected in (("search", _OF_SEARCH), ("report", _OF_REPORT)):
        if isinstance(content.get(name), dict):
            tables[f"{name}."] = (content[name], expected)
    for prefix, (table, expected) in tables.items():
        for key, (declared, words) in expected.items():
            if key in table and not is_of(declared, table[key]):
                return f"{prefix}{key} to be {words}; got {described(table[key])}"
    return _problem_of_values(content) or _problem_of_numbers(content)


def _problem_of_values(content: Any, where: str = "") -> str | None:
    """Values that no record can hold, such as dates, NaN and numbers beyond all bounds."""
    if isinstance(content, dict | list | tuple):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        found = (_problem_of_values(item, f"{where}.{key}".strip(".")) for key, item in items)
        return next((problem for problem in found if problem is not None), None)
    is_sane = type(content) in _PLAIN
    if is_sane and not isinstance(content, str):
        is_sane = math.isfinite(content) and abs(content) < 2**63
    return None if is_sane else f"text or finite numbers as {where:.80}; got {described(content)}"


def _problem_of_numbers(content: dict[str, Any]) -> str | None:
    """Folds and seeds that are negative, or more runs than anyone waits for."""
    folds, seeds = content.get("folds", 5), content.get("seeds", [0])
    fewer = content.get("fewer_folds", {}).values()
    num_folds = folds if isinstance(folds, int) else len(folds)
    given = [*([] if isinstance(folds, int) else folds), *seeds]
    if not all(0 <= number <= MAX_NUMBER for number in given):
        return f"folds and seeds from 0 to {MAX_NUMBER}; got {described(min(given))}"
    if num_folds < 1 or not seeds or any(number < 1 for number in fewer):
        return "at least one fold and one seed; got none"
    num_runs = num_folds * len(seeds) * len(content["datasets"]) * len(content["methods"])
    if num_runs > MAX_RUNS:
        return f"at most {MAX_RUNS:,} runs; got {described(num_runs)}"
    return None


def is_record(content: Any) -> bool:
    """Whether this looks like a record of a run; it may lack what only reports need."""
    if not isinstance(content, dict) or not {"run", "status"} <= content.keys():
        return False
    metrics, series = content.get("metrics", {}), content.get("series", {})
    return (
        all(is_of(kind, content[name]) for name, kind in _OF_RECORDS.items() if name in content)
        and all(map(math.isfinite, (*metrics.values(), content.get("seconds", 0.0))))
        and all(_is_series(values) for values in series.values())
    )


def is_complete(record: Mapping[str, Any]) -> bool:
    """Whether a record has all that a report needs."""
    environment = record.get("environment", dict.fromkeys(_OF_ENVIRONMENTS))
    return record.keys() >= _NEEDED and set(_OF_ENVIRONMENTS) <= environment.keys()


def _is_series(values: list[Any]) -> bool:
    """Whether these are finite numbers, or lists of them that have one length."""
    if all(isinstance(row, list) for row in values):
        return len({len(row) for row in values}) < 2 and all(map(_are_numbers, values))
    return _are_numbers(values)


def _are_numbers(values: list[Any]) -> bool:
    return all(is_of(float, value) and math.isfinite(value) for value in values)


def json_schema() -> dict[str, Any]:
    """A JSON schema of experiment files, by which editors complete and check them."""
    properties = {name: _as_schema(kind, words) for name, (kind, words) in _OF_EXPERIMENTS.items()}
    for name, fields in (("search", _OF_SEARCH), ("report", _OF_REPORT)):
        inner = {key: _as_schema(kind, words) for key, (kind, words) in fields.items()}
        properties[name] = {"type": "object", "properties": inner, "additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment of gfsvi",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _as_schema(kind: Any, words: str) -> dict[str, Any]:
    """The schema of values of a type, with what users are told it is."""
    return {"description": words, **_schema_of(kind)}


def _schema_of(kind: Any) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return {"anyOf": [_schema_of(one) for one in inner]}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(inner[1])}
    return {"type": _JSON_TYPES[kind]}


_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number", dict: "object"}
