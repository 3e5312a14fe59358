"""Converts the JSON tree and the arrays of a model file back to objects.

Classes come from the table of tags, functions from the list of activations, and objects are filled
field by field, so decoding an untrusted tree runs no code from it.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, final

import ml_dtypes
import numpy as np

from gfsvi.storage import format_1
from gfsvi.storage.fields import check_fields
from gfsvi.storage.tags import class_of

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = {
    name: np.dtype(name) for name in ("bool", *_INTEGERS, "float16", "float32", "float64")
} | {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
KEY_KINDS = ("threefry2x32", "rbg", "unsafe_rbg")
_FLOATS = {repr(value): value for value in (math.nan, math.inf, -math.inf)}
_VALUES: dict[Any, dict[str, Any]] = {"float": _FLOATS, "dtype": DTYPES}
ADDED = {"Fitted": ("unseen", "updates", "conformal", "level"), "ConjugateNetwork": ("near",)}
"""Fields, by class, that files of this format may lack: they were added later."""

Fields = dict[str, Any]
Maker = Callable[[Fields], Any]


def maker_of(tag: str) -> Maker:
    """Makes objects of the class behind a tag from their fields, without its constructor."""
    return functools.partial(_filled, class_of(tag))


def activation(name: str) -> Any:
    """The activation of that name."""
    from gfsvi.networks.activations import ACTIVATIONS  # JAX's own functions

    return _known("function", name, ACTIVATIONS)


def decode(
    tree: Any,
    arrays: list[np.ndarray],
    *,
    version: int,
    maker: Callable[[str], Maker] = maker_of,
    function: Callable[[str], Any] = activation,
) -> Any:
    """Undo `encoding.encode` for a file of the given format version.

    A malformed tree raises whatever its shape leads to; `model_file.read` handles that.

    Args:
        tree: The JSON tree.
        arrays: The arrays that it refers to.
        version: The format of the file.
        maker: Finds what makes objects from their fields by their tag.
        function: Finds a function by its name.
    """
    return _Decoder(arrays, version, maker, function).decode(tree)


@final
@dataclasses.dataclass(frozen=True)
class _Decoder:
    """Converts JSON back to a tree; the first key of a JSON object says what it stands for."""

    arrays: list[np.ndarray]
    version: int
    maker: Callable[[str], Maker]
    function: Callable[[str], Any]

    def decode(self, node: Any) -> Any:
        if type(node) is list:
            return [self.decode(item) for item in node]
        if type(node) is not dict:
            return node
        kind = next(iter(node), None)
        value = node[kind]
        if kind == "tuple":
            return tuple([self.decode(item) for item in value])
        if kind == "dict":
            return without_duplicates([(key, self.decode(item)) for key, item in value])
        if kind == ("class" if self.version == 1 else "object"):
            return self._object(value, node["fields"])
        if kind in ("array", "scalar"):
            array = self.arrays[value].view(DTYPES[node["dtype"]])
            return array if kind == "array" else array[()]
        if kind == "key" and value in KEY_KINDS:
            return _key(self.decode(node["data"]), value)
        if kind == "function":
            return self.function(value)
        return _known(kind, value, _VALUES.get(kind, {}))

    def _object(self, name: str, fields: dict[str, Any]) -> Any:
        tag = format_1.tag_of_old_name(name) if self.version == 1 else name
        make = self.maker(tag)
        decoded = {field: self.decode(item) for field, item in fields.items()}
        if self.version == 1:
            decoded = format_1.upgraded_fields(tag, decoded)
        decoded = format_1.ADDED_IN_FORMAT_2.get(tag, {}) | decoded
        return make(decoded)


def without_duplicates(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dictionary of these entries; raises if a key occurs twice."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise TypeError("a dictionary with a duplicate key")
    return entries


def _key(data: Any, kind: str) -> Any:
    import jax  # keys alone need it

    return jax.random.wrap_key_data(data, impl=kind)


def _known(kind: Any, value: Any, known: Mapping[Any, Any]) -> Any:
    if value not in known:
        raise ValueError(
            f"it holds the {kind!s:.40} {value!r:.100}, which this version does not know."
        )
    return known[value]


def _hashable(value: Any) -> Any:
    return tuple(value) if type(value) is list else value


def _filled(kind: type[Any], fields: Fields) -> Any:
    declared = {field.name: field for field in dataclasses.fields(kind)}
    # A file may be older than fields that have a default.
    added = [
        name for name in declared.keys() - fields.keys() if name in ADDED.get(kind.__name__, ())
    ]
    fields |= {name: declared[name].default for name in added}
    if fields.keys() != declared.keys():
        raise ValueError(
            f"{kind.__name__} expects the fields {', '.join(declared) or 'none'}; "
            f"got {', '.join(fields) or 'none':.200}."
        )
    check_fields(kind, fields)
    made = object.__new__(kind)
    for name, value in fields.items():
        convert = declared[name].metadata.get("converter", _hashable)
        object.__setattr__(made, name, convert(value))
    # As Equinox does: the check of every ancestor. Plain dataclasses check in `__post_init__`.
    for ancestor in kind.__mro__:
        for check in ("__check_init__", "__post_init__"):
            if check in vars(ancestor):
                vars(ancestor)[check](made)
    return made
