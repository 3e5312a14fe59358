"""What a field of an object in a model file may hold: a value of its declared type, of sane size.

The declarations of the classes are the list: a file can set nothing that they do not name, no
function but an activation, no path, and no size that a fit would take gigabytes for.
"""

import collections.abc
import contextlib
import dataclasses
import itertools
import types
import typing
from typing import Any

import numpy as np

LARGEST = {
    "channels": 10_000,
    "hidden": 10_000,
    "num_classes": 10_000,
    "num_features": 10_000_000,
    "num_function_outputs": 10_000,
    "num_inducing": 10_000,
    "num_leaves": 10_000,
    "num_likelihood_samples": 10_000,
    "num_members": 1_000,
    "num_outputs": 10_000,
    "num_points": 20_000,
    "num_rounds": 1_000_000,
    "num_samples": 10_000,
    "num_starts": 10_000,
    "outputs": 10_000,
    "rank": 10_000,
}
"""The largest size that a file may state; arrays of these sizes are made before any data come."""
MOST_LAYERS, MOST_LEVELS = 100, 1_000
_MOST_ITEMS = {"hidden": MOST_LAYERS, "channels": MOST_LAYERS, "levels": MOST_LEVELS}
_MOST_WEIGHTS = 30_000_000
_LARGEST_NUMBER = 2**62
_FUNCTIONS = ("activation",)
"""Fields that may hold a function; decoding finds none but activations."""


def check_fields(kind: type[Any], values: dict[str, Any]) -> None:
    """Raise `ValueError` if a field holds what its declaration does not admit."""
    declared = {field.name: field.type for field in dataclasses.fields(kind)}
    if any(isinstance(hint, str) for hint in declared.values()):
        declared = typing.get_type_hints(kind)
    with _shared_axes(declared.values()):
        for name, value in values.items():
            if not admits(name, declared[name], value):
                raise ValueError(
                    f"it holds a {kind.__name__} with the {name} {described(value)}, "
                    "which is out of range or of the wrong kind."
                )


def admits(name: str, declared: Any, value: Any) -> bool:
    """Whether a field of this name and declaration may hold a value read from a file."""
    is_function = callable(value) and not dataclasses.is_dataclass(value)
    if is_function and name not in _FUNCTIONS:
        return False
    return is_of(declared, value) and _is_of_sane_size(name, value)


def described(value: object) -> str:
    """A value in a few words, whatever it is."""
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype} with shape {value.shape}"[:100]
    if isinstance(value, str | int | float | None) or (
        isinstance(value, list | dict | tuple) and not value
    ):
        try:
            return f"{value!r:.60}"
        except ValueError:  # an integer of too many digits to print
            return "of too many digits"
    if isinstance(value, list | tuple | dict):
        kinds = sorted({type(item).__name__ for item in value})
        return f"a {type(value).__name__} of {', '.join(kinds)}"[:100]
    return f"object of type {type(value).__name__}"


@contextlib.contextmanager
def _shared_axes(declared: collections.abc.Iterable[Any]) -> collections.abc.Iterator[None]:
    """Within this context, axes of the same name have the same size."""
    if not any("jaxtyping" in str(hint) for hint in declared):
        yield
        return
    from jaxtyping import jaxtyped  # imported by the class itself

    with jaxtyped("context"):
        yield


def is_of(declared: Any, value: Any) -> bool:
    """Whether a value from a file is of a declared type; a list may stand for a tuple."""
    if isinstance(declared, typing.TypeVar):
        declared = declared.__bound__
    if declared is Any or declared is object or declared is None:
        return declared is not None or value is None
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin in _GENERIC:
        return _GENERIC[origin](arguments, value)
    declared = origin or declared
    if hasattr(declared, "dim_str"):
        return _is_array_of(declared, value)
    if getattr(declared, "__name__", "") == "PyTree":
        return _is_tree(value)
    if declared in _NUMBERS:
        return _is_number(value, *_NUMBERS[declared])
    if not isinstance(declared, type) or getattr(declared, "_is_protocol", False):
        return False
    return isinstance(value, declared)


def _is_tuple(arguments: tuple[Any, ...], value: Any) -> bool:
    if not isinstance(value, tuple | list):
        return False
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return all(is_of(arguments[0], item) for item in value)
    return len(arguments) == len(value) and all(map(is_of, arguments, value))


def _is_dict(arguments: tuple[Any, ...], value: Any) -> bool:
    return isinstance(value, dict) and all(
        is_of(arguments[0], key) and is_of(arguments[1], item) for key, item in value.items()
    )


def _is_any_of(arguments: tuple[Any, ...], value: Any) -> bool:
    return any(is_of(argument, value) for argument in arguments)


_GENERIC: dict[Any, collections.abc.Callable[[tuple[Any, ...], Any], bool]] = {
    typing.Union: _is_any_of,
    types.UnionType: _is_any_of,
    typing.Literal: lambda arguments, value: type(value) is str and value in arguments,
    tuple: _is_tuple,
    dict: _is_dict,
    collections.abc.Callable: lambda arguments, value: callable(value),
    type: lambda arguments, value: False,
}
_NUMBERS: dict[Any, tuple[type[Any], ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
}


def _is_number(value: Any, *kinds: type[Any]) -> bool:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _is_array_of(declared: Any, value: Any) -> bool:
    """Whether an array has the declared precision and shape; NumPy's stand for those of JAX."""
    if not isinstance(value, np.ndarray | np.generic):
        return isinstance(value, declared)
    array = np.asarray(value)
    return isinstance(array, declared.dtype[np.ndarray, declared.dim_str])


def _is_tree(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_tree, value.values()))
    if isinstance(value, tuple | list):
        return all(map(_is_tree, value))
    return value is None or isinstance(value, np.ndarray | np.generic | int | float)


def _is_of_sane_size(name: str, value: Any) -> bool:
    if isinstance(value, tuple | list):
        if len(value) > _MOST_ITEMS.get(name, len(value)):
            return False
        if not all(_is_of_sane_size(name, item) for item in value):
            return False
        return name != "hidden" or _num_weights(value) <= _MOST_WEIGHTS
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return True
    if name in LARGEST:
        return 0 <= int(value) <= LARGEST[name]
    return -1 <= int(value) <= _LARGEST_NUMBER


def _num_weights(widths: collections.abc.Sequence[int]) -> int:
    return sum(int(first) * int(second) for first, second in itertools.pairwise(widths))
