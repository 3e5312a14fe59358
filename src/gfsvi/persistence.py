"""Model files: safetensors arrays and one JSON text, never a pickle.

Reading a stranger's file runs no code of theirs: classes come from a list of our own modules,
functions from a list of activations, and objects are filled field by field. A checksum over
everything tells a damaged file from a whole one.
"""

import contextlib
import dataclasses
import functools
import hashlib
import importlib
import inspect
import json
import math
import os
import pkgutil
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import gfsvi
from gfsvi.network import Opaque

FORMAT = 1
_KEY = "gfsvi"  # of the JSON text; the only key, since the order of several is not fixed
_MAX_HEADER = 100_000_000  # safetensors reads no longer ones

# Classes in a file come from here; `cli` and the like, which do something, are not in the list.
_HOMES = {
    *("covariance", "data", "diagnostics", "kernel", "means", "model", "points", "preparation"),
    *("stages", "training", "values", "covariances", "estimators", "functions", "kernels"),
    *("likelihoods", "methods", "networks", "predictives"),
}
_ACTIVATIONS = {
    **{name: getattr(jnp, name) for name in ("tanh", "sin", "cos")},
    **{name: getattr(jax.nn, name) for name in ("relu", "relu6", "leaky_relu", "elu", "selu")},
    **{name: getattr(jax.nn, name) for name in ("celu", "gelu", "silu", "mish", "softplus")},
    **{name: getattr(jax.nn, name) for name in ("sigmoid", "log_sigmoid", "hard_tanh", "identity")},
}
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_DTYPES = {
    name: np.dtype(name) for name in ("bool", *_INTEGERS, "float16", "float32", "float64")
} | {"bfloat16": np.dtype(jnp.bfloat16)}
_KEY_KINDS = ("threefry2x32", "rbg", "unsafe_rbg")
_FLOATS = {repr(value): value for value in (math.nan, math.inf, -math.inf)}
# What taking a malformed tree apart may raise, however it is malformed.
_MALFORMED = (TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError)


class ModelFileError(ValueError):
    """A model file cannot be written or read; the message says why and what to do."""


def write(path: str | os.PathLike[str], content: dict[str, Any], *, kind: str = "model") -> None:
    """Write a tree of numbers, text, arrays and gfsvi's own classes to one file, or nothing."""
    with _depth_in_words():
        tree, arrays = _encoded(content)
        header = {"format": FORMAT, "library": gfsvi.__version__, "kind": kind, "content": tree}
        header["checksum"] = _digest(header, arrays)
        text = _text(header)
    tensors = {_tensor_name(number): array for number, array in enumerate(arrays)}
    data = save_tensors(tensors, metadata={_KEY: text})
    if int.from_bytes(data[:8], "little") > _MAX_HEADER:
        raise ModelFileError(
            f"a model file expects at most {_MAX_HEADER:,} bytes of text; got {len(text):,}. "
            "Store long lists as arrays."
        )
    _replace(Path(path), data)


def read(path: str | os.PathLike[str], *, kind: str = "model") -> dict[str, Any]:
    """What `write` was given, arrays as NumPy and bit by bit the same."""
    path = Path(path)
    header, arrays = _opened(path, _bytes_of(path))
    if header["kind"] != kind:
        raise ModelFileError(
            f"expected a file that holds a {kind}; {path} holds a {header['kind']}. Check the path."
        )
    try:
        return _decode(header["content"], arrays)
    except (ValueError, ImportError) as error:
        raise ModelFileError(
            f"{path} cannot be read: {error} It was written by gfsvi {header['library']}, this is "
            f"{gfsvi.__version__}: use that version, or fit again."
        ) from error
    except _MALFORMED as error:
        raise _damaged(path, "its content is malformed") from error


def fingerprint(content: dict[str, Any]) -> str:
    """A short text that equal contents share; the order of dictionary entries counts."""
    with _depth_in_words():
        return _digest(*_encoded(content))


def _encoded(content: dict[str, Any]) -> tuple[Any, list[np.ndarray]]:
    if type(content) is not dict:
        raise ModelFileError(f"a model file expects a dictionary; got a {_described(content)}.")
    encoder = _Encoder([])
    return encoder.encode(content, "content"), encoder.arrays


@contextlib.contextmanager
def _depth_in_words() -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise ModelFileError(
            "a model file expects content nested a few hundred levels at most; got more. "
            "Write a long sum of kernels as Sum((first, second, ...))."
        ) from error


@dataclasses.dataclass(frozen=True)
class _Encoder:
    """Turns a tree into JSON and puts its arrays aside."""

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
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
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
        tag = "scalar" if isinstance(value, np.generic) else "array"
        return {tag: len(self.arrays) - 1, "dtype": value.dtype.name}

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        try:
            known = _own_class(name) is kind
        except ValueError:
            known = False
        if not known:
            raise _refusal(value, where, "Use a class of gfsvi: reading must run no other code.")
        fields = [field.name for field in dataclasses.fields(value)]
        encoded = {n: self.encode(getattr(value, n), f"{where}.{n}") for n in fields}
        return {"class": name, "fields": encoded}


def _named(value: Any, where: str) -> Any:
    # jnp.float32 is a type that knows its dtype, np.float32 one that has to be asked
    dtype = getattr(value, "dtype", value) if isinstance(value, type) else value
    if isinstance(value, type) and issubclass(value, np.generic):
        dtype = np.dtype(value)
    if isinstance(dtype, np.dtype) and dtype.name in _DTYPES:
        return {"dtype": dtype.name}
    for name, function in _ACTIVATIONS.items():
        if value is function:
            return {"function": name}
    if isinstance(value, Opaque):
        remedy = "Networks of other frameworks cannot be saved: use MLP, or keep it yourself."
        raise _refusal(value.content, where, remedy)
    if callable(value):
        remedy = f"Of functions only activations can be saved: {', '.join(_ACTIVATIONS)}."
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


def _decode(node: Any, arrays: list[np.ndarray]) -> Any:
    if type(node) is list:
        return [_decode(item, arrays) for item in node]
    if type(node) is not dict:
        return node
    tag = next(iter(node), None)
    value = node[tag]
    if tag == "tuple":
        return tuple([_decode(item, arrays) for item in value])
    if tag == "dict":
        return {key: _decode(item, arrays) for key, item in value}
    if tag == "class":
        fields = {name: _decode(item, arrays) for name, item in node["fields"].items()}
        return _rebuilt(_own_class(value), fields)
    if tag in ("array", "scalar"):
        array = arrays[value].view(_DTYPES[node["dtype"]])
        return array if tag == "array" else array[()]
    if tag == "key" and value in _KEY_KINDS:
        return jax.random.wrap_key_data(_decode(node["data"], arrays), impl=value)
    known = {"float": _FLOATS, "dtype": _DTYPES, "function": _ACTIVATIONS}.get(tag, {})
    if value not in known:
        raise ValueError(f"it holds the {tag} {value!r}, which this version does not know.")
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
    # Like Equinox: the check of every ancestor.
    for ancestor in kind.__mro__:
        if "__check_init__" in vars(ancestor):
            vars(ancestor)["__check_init__"](made)
    return made


@functools.cache
def _own_class(name: str) -> type[Any]:
    """The class of gfsvi with this full name; nothing is imported that is not on the list."""
    home, _, class_name = name.rpartition(".")
    found: Any = vars(importlib.import_module(home)).get(class_name) if home in _homes() else None
    is_own = inspect.isclass(found) and found.__module__ == home
    if not is_own or not dataclasses.is_dataclass(found) or inspect.isabstract(found):
        raise ValueError(f"it holds {name!r}, which is no class that this version can load.")
    return found


def _homes() -> set[str]:
    """The modules on disk that classes may come from."""
    found = set()
    for info in pkgutil.iter_modules(gfsvi.__path__):
        if info.name in _HOMES:
            found.add(f"gfsvi.{info.name}")
            inside = [os.path.join(folder, info.name) for folder in gfsvi.__path__]
            found |= {f"gfsvi.{info.name}.{part.name}" for part in pkgutil.iter_modules(inside)}
    return found


def _text(tree: Any) -> str:
    return json.dumps(tree, allow_nan=False, separators=(",", ":"))


def _tensor_name(number: int) -> str:
    return f"{number:06d}"


def _digest(tree: Any, arrays: list[np.ndarray]) -> str:
    digest = hashlib.sha256(_text(tree).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _opened(path: Path, data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header and the arrays of a whole file of ours, in a format that we know."""
    _check_kind_of_file(path, data)
    try:
        outer = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        if _KEY not in outer.get("__metadata__", {}):
            raise _damaged(path, "it is a safetensors file of another program")
        header = json.loads(outer["__metadata__"][_KEY])
        _check_format(path, header["format"])
        tensors = load_tensors(data)
        arrays = [tensors[_tensor_name(number)] for number in range(len(tensors))]
        if header.pop("checksum") != _digest(header, arrays):
            raise _damaged(path, "its checksum does not fit")
    except ModelFileError:
        raise
    except (SafetensorError, ValueError, *_MALFORMED) as error:
        raise _damaged(path, "it does not hold together") from error
    return header, arrays


def _check_kind_of_file(path: Path, data: bytes) -> None:
    # The first eight bytes are a length, which may well look like the first ones of a pickle.
    if data[8:9] == b"{":
        return
    if data[:1] == b"\x80" or data[:4] == b"PK\x03\x04":
        raise ModelFileError(
            f"expected a gfsvi model; {path} is a pickle and is never opened, since it could run "
            "anything. Fit the model again and save it with gfsvi."
        )
    got = "something else" if data else "empty"
    raise ModelFileError(f"expected a gfsvi model; {path} is {got}. Check the path, or fit again.")


def _check_format(path: Path, version: Any) -> None:
    if type(version) is not int or version < 1:
        raise _damaged(path, f"its format is {version!r}")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} has format {version}, this library reads up to {FORMAT}: update gfsvi."
        )


def _damaged(path: Path, what: str) -> ModelFileError:
    return ModelFileError(
        f"expected a whole gfsvi model; {path} is damaged or foreign: {what}. "
        "Copy it again from where it came from, or fit again."
    )


def _bytes_of(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would block
            raise OSError("it is not a file")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(
            f"expected a gfsvi model; {path} cannot be read: {reason}. Check the path."
        ) from error


def _replace(path: Path, data: bytes) -> None:
    """Put the whole file in place at once, or leave everything as it was."""
    draft = None
    try:
        target = path.resolve()  # a link stays a link
        if target.exists() and not target.is_file():  # and /dev/null a device
            raise OSError("it is not a file")
        draft = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.part")
        with open(draft, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(
            f"expected a path to write a model to; {path} cannot be written: "
            f"{reason}. Choose another one, or make room."
        ) from error
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)
