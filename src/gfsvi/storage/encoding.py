"""Converts what a model file holds to a JSON tree and a list of arrays, and back.

Classes come from the table of tags, functions from the list of activations, and objects are filled
field by field, so decoding an untrusted tree runs no code from it.
"""

import dataclasses
import math
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.networks.activations import ACTIVATIONS, name_of
from gfsvi.networks.foreign import Opaque
from gfsvi.numerics.precision import is_key
from gfsvi.storage import format_1
from gfsvi.storage.tags import class_of, tag_of

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES = {
    name: np.dtype(name) for name in ("bool", *_INTEGERS, "float16", "float32", "float64")
} | {"bfloat16": np.dtype(jnp.bfloat16)}
_KEY_KINDS = ("threefry2x32", "rbg", "unsafe_rbg")
_FLOATS = {repr(value): value for value in (math.nan, math.inf, -math.inf)}


class ModelFileError(ValueError):
    """Content that a model file cannot hold, or a file that cannot be read as a model."""


def encode(content: dict[str, Any]) -> tuple[Any, list[np.ndarray]]:
    """A JSON tree, and the arrays that it refers to by index."""
    if type(content) is not dict:
        raise ModelFileError(f"a model file expects a dictionary; got a {_described(content)}.")
    encoder = _Encoder([])
    return encoder.encode(content, "content"), encoder.arrays


def decode(tree: Any, arrays: list[np.ndarray], *, version: int) -> Any:
    """Undo `encode` for a file of the given format version.

    A malformed tree raises whatever its shape leads to; `model_file.read` handles that.
    """
    return _Decoder(arrays, version).decode(tree)


@final
@dataclasses.dataclass(frozen=True)
class _Encoder:
    """Converts a tree to JSON and collects its arrays."""

    arrays: list[np.ndarray]

    def encode(self, value: Any, where: str) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if type(value) is list else {"tuple": items}
        if type(value) is dict:
            return {"dict": [self._entry(*entry, where) for entry in value.items()]}
        if type(value) is np.ndarray or isinstance(value, np.generic | jax.Array):
            return self._array(value, where)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._object(value, where)
        return _named(value, where)

    def _entry(self, key: Any, value: Any, where: str) -> list[Any]:
        key = str(key) if type(key) is np.str_ else key
        if not (key is None or type(key) in (bool, int, str)):
            raise _refusal(key, where, "Use text or whole numbers as keys of a dictionary.")
        return [key, self.encode(value, f"{where}[{key!r}]")]

    def _array(self, value: Any, where: str) -> Any:
        if is_key(value):
            kind = str(jax.random.key_impl(value))
            if kind not in _KEY_KINDS:
                raise _refusal(value, where, f"Use a key of kind {', '.join(_KEY_KINDS)}.")
            return {"key": kind, "data": self._array(jax.random.key_data(value), where)}
        if value.dtype.kind in "OUT":  # text, and what pandas makes of it
            return self.encode(value.tolist(), where)
        if value.dtype.name not in _DTYPES:
            raise _refusal(value, where, f"Turn {value.dtype} into real numbers or text.")
        array = np.array(value, value.dtype.newbyteorder("<"), order="C")
        # safetensors' NumPy side knows no bfloat16
        self.arrays.append(array.view(np.uint16) if value.dtype == jnp.bfloat16 else array)
        node = "scalar" if isinstance(value, np.generic) else "array"
        return {node: len(self.arrays) - 1, "dtype": value.dtype.name}

    def _object(self, value: Any, where: str) -> Any:
        tag = tag_of(type(value))
        if tag is None:
            raise _refusal(value, where, "Use a class listed in gfsvi.storage.tags.")
        fields = [field.name for field in dataclasses.fields(value)]
        encoded = {n: self.encode(getattr(value, n), f"{where}.{n}") for n in fields}
        return {"object": tag, "fields": encoded}


def _named(value: Any, where: str) -> Any:
    # jnp.float32 is a type that knows its dtype, np.float32 one that has to be asked
    dtype = getattr(value, "dtype", value) if isinstance(value, type) else value
    if isinstance(value, type) and issubclass(value, np.generic):
        dtype = np.dtype(value)
    if isinstance(dtype, np.dtype) and dtype.name in _DTYPES:
        return {"dtype": dtype.name}
    if (name := name_of(value)) is not None:
        return {"function": name}
    if isinstance(value, Opaque):
        remedy = "Networks of other frameworks cannot be saved: use MLP, or store it yourself."
        raise _refusal(value.content, where, remedy)
    if callable(value):
        remedy = f"The only functions that can be saved are {', '.join(ACTIVATIONS)}."
        raise _refusal(value, where, remedy)
    raise _refusal(value, where, "Leave it out, or turn it into numbers, text and lists.")


def _refusal(value: Any, where: str, remedy: str) -> ModelFileError:
    return ModelFileError(
        f"a model file expects numbers, text, arrays and gfsvi's own classes; got a "
        f"{_described(value)} at {where}. {remedy}"
    )


def _described(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


@final
@dataclasses.dataclass(frozen=True)
class _Decoder:
    """Converts JSON back to a tree; the first key of a JSON object says what it stands for."""

    arrays: list[np.ndarray]
    version: int

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
            array = self.arrays[value].view(_DTYPES[node["dtype"]])
            return array if kind == "array" else array[()]
        if kind == "key" and value in _KEY_KINDS:
            return jax.random.wrap_key_data(self.decode(node["data"]), impl=value)
        return _known(kind, value)

    def _object(self, name: str, fields: dict[str, Any]) -> Any:
        tag = format_1.tag_of_old_name(name) if self.version == 1 else name
        kind = class_of(tag)
        decoded = {field: self.decode(item) for field, item in fields.items()}
        if self.version == 1:
            decoded = format_1.upgraded_fields(tag, decoded)
        return _rebuilt(kind, decoded)


def without_duplicates(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dictionary of these entries; raises if a key occurs twice."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise TypeError("a dictionary with a duplicate key")
    return entries


def _known(kind: Any, value: Any) -> Any:
    known = {"float": _FLOATS, "dtype": _DTYPES, "function": ACTIVATIONS}.get(kind, {})
    if value not in known:
        raise ValueError(
            f"it holds the {kind!s:.40} {value!r:.100}, which this version does not know."
        )
    return known[value]


def _rebuilt(kind: type[Any], fields: dict[str, Any]) -> Any:
    expected = [field.name for field in dataclasses.fields(kind)]
    if set(fields) != set(expected):
        raise ValueError(
            f"{kind.__name__} expects the fields {', '.join(expected) or 'none'}; "
            f"got {', '.join(fields) or 'none'}."
        )
    made = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    # As Equinox does: the check of every ancestor.
    for ancestor in kind.__mro__:
        if "__check_init__" in vars(ancestor):
            vars(ancestor)["__check_init__"](made)
    return made
