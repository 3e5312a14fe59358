"""Converts what a model file holds to a JSON tree and a list of arrays, which `decoding` undoes."""

import dataclasses
import math
from typing import Any, final

import jax
import numpy as np

from gfsvi.networks.activations import ACTIVATIONS, name_of
from gfsvi.networks.foreign import Opaque
from gfsvi.numerics.precision import is_key
from gfsvi.storage.container import ModelFileError
from gfsvi.storage.decoding import DTYPES, KEY_KINDS
from gfsvi.storage.tags import tag_of


def encode(content: dict[str, Any]) -> tuple[Any, list[np.ndarray]]:
    """A JSON tree, and the arrays that it refers to by index."""
    if type(content) is not dict:
        raise ModelFileError(f"a model file expects a dictionary; got a {_described(content)}.")
    encoder = _Encoder([])
    return encoder.encode(content, "content"), encoder.arrays


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
            if kind not in KEY_KINDS:
                raise _refusal(value, where, f"Use a key of kind {', '.join(KEY_KINDS)}.")
            return {"key": kind, "data": self._array(jax.random.key_data(value), where)}
        if value.dtype.kind in "OUT":  # text, and what pandas makes of it
            return self.encode(value.tolist(), where)
        if value.dtype.name not in DTYPES:
            raise _refusal(value, where, f"Turn {value.dtype} into real numbers or text.")
        array = np.array(value, value.dtype.newbyteorder("<"), order="C")
        # safetensors' NumPy side knows no bfloat16
        self.arrays.append(array.view(np.uint16) if value.dtype == DTYPES["bfloat16"] else array)
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
    if isinstance(dtype, np.dtype) and dtype.name in DTYPES:
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
