"""Model files: safetensors arrays and one JSON text, never a pickle.

A checksum over the whole content detects damage, and `encoding` ensures that reading an untrusted
file runs no code from it. Format 2 names classes by tags (`storage.tags`); format 1, which named
them by their modules, can still be read.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from gfsvi.storage.encoding import ModelFileError as ModelFileError
from gfsvi.storage.encoding import decode, encode, without_duplicates
from gfsvi.storage.files import write_bytes
from gfsvi.version import __version__

FORMAT = 2
_KEY = "gfsvi"  # of the JSON text; the only key, since safetensors does not fix the order of keys
_FIELDS = {"format", "library", "kind", "content"}  # of the JSON text, beside the checksum
_MAX_HEADER = 100_000_000  # safetensors reads no longer header

# What decoding a malformed tree may raise.
_MALFORMED = (
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    AssertionError,
)


def write(path: str | os.PathLike[str], content: dict[str, Any], *, kind: str = "model") -> None:
    """Write a tree of numbers, text, arrays and gfsvi's own classes to one file, atomically.

    Raises `ModelFileError` if a file cannot hold the content, `WriteError` if it cannot be written.
    """
    with _explaining_recursion():
        tree, arrays = encode(content)
        header = {"format": FORMAT, "library": __version__, "kind": kind, "content": tree}
        header["checksum"] = _digest(header, arrays)
        text = _text(header)
    tensors = {_tensor_name(number): array for number, array in enumerate(arrays)}
    data = save_tensors(tensors, metadata={_KEY: text})
    if int.from_bytes(data[:8], "little") > _MAX_HEADER:
        raise ModelFileError(
            f"a model file expects at most {_MAX_HEADER:,} bytes of text; got {len(text):,}. "
            "Store long lists as arrays."
        )
    write_bytes(path, data)


def read(path: str | os.PathLike[str], *, kind: str = "model") -> dict[str, Any]:
    """The content given to `write`, bit for bit; arrays are NumPy arrays."""
    path = Path(path)
    header, arrays = _opened(path, _bytes_of(path))
    if header["kind"] != kind:
        raise ModelFileError(
            f"expected a file that holds a {kind}; {path} holds a {header['kind']}. Check the path."
        )
    content = _decoded(path, header, arrays)
    if type(content) is not dict:
        raise _damaged(path, "its content is malformed")
    return content


def fingerprint(content: dict[str, Any]) -> str:
    """A hash of the content; the order of dictionary entries matters."""
    with _explaining_recursion():
        return _digest(*encode(content))


@contextlib.contextmanager
def _explaining_recursion() -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise ModelFileError(
            "a model file expects content nested at most a few hundred levels deep; got more. "
            "Write a long sum of kernels as gfsvi.kernels.Sum((first, second, ...))."
        ) from error


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
    """The header and the arrays of an undamaged model file in a known format."""
    _check_kind_of_file(path, data)
    try:
        outer = _parsed(data[8 : 8 + int.from_bytes(data[:8], "little")])
        if _KEY not in outer.get("__metadata__", {}):
            raise _damaged(path, "it is a safetensors file of another program")
        header = _parsed(outer["__metadata__"][_KEY])
        _check_format(path, header["format"])
        tensors = load_tensors(data)
        arrays = [tensors[_tensor_name(number)] for number in range(len(tensors))]
        if header.pop("checksum") != _digest(header, arrays):
            raise _damaged(path, "its checksum does not match")
        if set(header) != _FIELDS:
            raise _damaged(path, "its header is incomplete")
    except ModelFileError:
        raise
    except (SafetensorError, ValueError, *_MALFORMED) as error:
        raise _damaged(path, "its parts do not fit together") from error
    return header, arrays


def _parsed(text: str | bytes) -> Any:
    """JSON; a duplicate key, of which two parsers could take different ones, is an error."""
    return json.loads(text, object_pairs_hook=without_duplicates)


def _decoded(path: Path, header: dict[str, Any], arrays: list[np.ndarray]) -> Any:
    try:
        return decode(header["content"], arrays, version=header["format"])
    except (ValueError, ImportError) as error:
        raise ModelFileError(
            f"{path} cannot be read: {error} It was written by gfsvi {header['library']}, this is "
            f"{__version__}: use that version, or fit again."
        ) from error
    except RecursionError as error:
        raise _damaged(path, "its content is nested too deeply") from error
    except _MALFORMED as error:
        raise _damaged(path, "its content is malformed") from error


def _check_kind_of_file(path: Path, data: bytes) -> None:
    # The first eight bytes are a length, which may well look like the first ones of a pickle.
    if data[8:9] == b"{":
        return
    if data[:1] == b"\x80" or data[:4] == b"PK\x03\x04":
        raise ModelFileError(
            f"expected a gfsvi model; {path} is a pickle and is never opened, since it could run "
            "any code. Fit the model again and save it with gfsvi."
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
        f"expected a gfsvi model; {path} is damaged or foreign: {what}. "
        "Copy it again from its source, or fit again."
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
