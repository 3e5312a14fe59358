"""The outer form of a model file: one JSON text and arrays, as safetensors, with a checksum.

Nothing here needs JAX, so that a missing or damaged file is reported at once.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from gfsvi.storage.decoding import without_duplicates
from gfsvi.version import __version__

FORMAT = 2
_KEY = "gfsvi"  # of the JSON text; the only key, since safetensors does not fix the order of keys
_FIELDS = {"format", "library", "kind", "content"}  # of the JSON text, beside the checksum
MAX_TEXT = 16_000_000
"""Bytes of text that a file may hold; parsed, text takes up to fifty times its size."""
MAX_BYTES = 800_000_000
"""Bytes of a file; reading takes twice as many, since arrays are copied out of them."""

MALFORMED = (
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    AssertionError,
)
"""What reading a malformed tree may raise, beside `ValueError`."""


class ModelFileError(ValueError):
    """Content that a model file cannot hold, or a file that cannot be read as a model."""


def packed(tree: Any, arrays: list[np.ndarray], *, kind: str) -> bytes:
    """The bytes of a model file with this content."""
    header = {"format": FORMAT, "library": __version__, "kind": kind, "content": tree}
    header["checksum"] = digest(header, arrays)
    text = _text(header)
    tensors = {_tensor_name(number): array for number, array in enumerate(arrays)}
    data = save_tensors(tensors, metadata={_KEY: text})
    if _length_of_text(data) > MAX_TEXT:
        raise ModelFileError(
            f"a model file expects at most {MAX_TEXT:,} bytes of text; got {len(text):,}. "
            "Store long lists as arrays."
        )
    if len(data) > MAX_BYTES:
        raise ModelFileError(
            f"a model file expects at most {MAX_BYTES:,} bytes; got {len(data):,}. "
            "Fit fewer rows, or a method that does not keep them."
        )
    return data


def opened(
    path: str | os.PathLike[str], *, kind: str = "model"
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header and the arrays of an undamaged file of this kind in a known format."""
    path = Path(path)
    header, arrays = _opened(path, _bytes_of(path))
    if header["kind"] != kind:
        raise ModelFileError(
            f"expected a file that holds a {kind}; {path} holds a {header['kind']}. Check the path."
        )
    return header, arrays


def digest(tree: Any, arrays: list[np.ndarray]) -> str:
    """A hash of a tree and its arrays."""
    hashed = hashlib.sha256(_text(tree).encode())
    for array in arrays:
        hashed.update(f"{array.dtype.str}{array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return hashed.hexdigest()


def damaged(path: str | os.PathLike[str], what: str) -> ModelFileError:
    """The error for a file that is not what `packed` wrote."""
    return ModelFileError(
        f"expected a gfsvi model; {path} is damaged or foreign: {what}. "
        "Copy it again from its source, or fit again."
    )


def _text(tree: Any) -> str:
    return json.dumps(tree, allow_nan=False, separators=(",", ":"))


def _tensor_name(number: int) -> str:
    return f"{number:06d}"


def _length_of_text(data: bytes) -> int:
    return int.from_bytes(data[:8], "little")


def _opened(path: Path, data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The header and the arrays of an undamaged model file in a known format."""
    _check_kind_of_file(path, data)
    length = _length_of_text(data)
    if length > MAX_TEXT:
        raise damaged(path, f"it claims to hold {length:,} bytes of text")
    try:
        outer = _parsed(data[8 : 8 + length])
        if _KEY not in outer.get("__metadata__", {}):
            raise damaged(path, "it is a safetensors file of another program")
        header = _parsed(outer["__metadata__"][_KEY])
        _check_format(path, header["format"])
        tensors = load_tensors(data)
        arrays = [tensors[_tensor_name(number)] for number in range(len(tensors))]
        if header.pop("checksum") != digest(header, arrays):
            raise damaged(path, "its checksum does not match")
        if set(header) != _FIELDS:
            raise damaged(path, "its header is incomplete")
    except ModelFileError:
        raise
    except (SafetensorError, ValueError, *MALFORMED) as error:
        raise damaged(path, "its parts do not fit together") from error
    return header, arrays


def _parsed(text: str | bytes) -> Any:
    """JSON; a duplicate key, of which two parsers could take different ones, is an error."""
    return json.loads(text, object_pairs_hook=without_duplicates)


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
        raise damaged(path, f"its format is {version!r}")
    if version > FORMAT:
        raise ModelFileError(
            f"{path} has format {version}, this library reads up to {FORMAT}: update gfsvi."
        )


def _bytes_of(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would block
            raise OSError("it is not a file")
        if path.exists() and (size := path.stat().st_size) > MAX_BYTES:
            raise OSError(f"it has {size:,} bytes, more than {MAX_BYTES:,}")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(
            f"expected a gfsvi model; {path} cannot be read: {reason}. Check the path."
        ) from error
