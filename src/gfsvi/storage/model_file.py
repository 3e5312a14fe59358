"""Model files: safetensors arrays and one JSON text, never a pickle.

A checksum over the whole content detects damage (`container`), and `decoding` ensures that reading
an untrusted file runs no code from it. Format 2 names classes by tags (`storage.tags`); format 1,
which named them by their modules, can still be read.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gfsvi.storage.container import FORMAT as FORMAT
from gfsvi.storage.container import MALFORMED, damaged, digest, opened, packed
from gfsvi.storage.container import ModelFileError as ModelFileError
from gfsvi.storage.decoding import decode
from gfsvi.storage.encoding import encode
from gfsvi.storage.files import write_bytes
from gfsvi.version import __version__


def write(path: str | os.PathLike[str], content: dict[str, Any], *, kind: str = "model") -> None:
    """Write a tree of numbers, text, arrays and gfsvi's own classes to one file, atomically.

    Raises `ModelFileError` if a file cannot hold the content, `WriteError` if it cannot be written.
    """
    with _explaining_recursion():
        data = packed(*encode(content), kind=kind)
    write_bytes(path, data)


def read(path: str | os.PathLike[str], *, kind: str = "model") -> dict[str, Any]:
    """The content given to `write`, bit for bit; arrays are NumPy arrays."""
    path = Path(path)
    content = _decoded(path, *opened(path, kind=kind))
    if type(content) is not dict:
        raise damaged(path, "its content is malformed")
    return content


def fingerprint(content: dict[str, Any]) -> str:
    """A hash of the content; the order of dictionary entries matters."""
    with _explaining_recursion():
        return digest(*encode(content))


@contextlib.contextmanager
def _explaining_recursion() -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        raise ModelFileError(
            "a model file expects content nested at most a few hundred levels deep; got more. "
            "Write a long sum of kernels as gfsvi.kernels.Sum((first, second, ...))."
        ) from error


def _in_one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) < 300 else f"{text[:300]}..."


def _decoded(path: Path, header: dict[str, Any], arrays: list[np.ndarray]) -> Any:
    try:
        return decode(header["content"], arrays, version=header["format"])
    except (ValueError, ImportError) as error:
        raise ModelFileError(
            f"{path} cannot be read: {_in_one_line(error)} It was written by gfsvi "
            f"{header['library']!s:.20}, this is {__version__}: use that version, or fit again."
        ) from error
    except RecursionError as error:
        raise damaged(path, "its content is nested too deeply") from error
    except MALFORMED as error:
        raise damaged(path, "its content is malformed") from error
