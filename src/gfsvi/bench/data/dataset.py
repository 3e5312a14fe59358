"""A data set: what it is, who made it, how to tell that one has it, and where it may be found."""

import dataclasses
import hashlib
from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

Arrays = dict[str, np.ndarray]


class DatasetError(ValueError):
    """A data set that is not there or not as it should be; one sentence for people."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """Files of a data folder that hold the set, as NumPy's archives.

    Args:
        paths: Where the files are in the folder, by what is put before the names of their arrays.
        partial: What is missing, if anything is.
    """

    paths: dict[str, str]
    partial: str | None = None


@dataclasses.dataclass(frozen=True)
class Packaged:
    """Files of another package that carries the data.

    Args:
        command: How it is installed.
        home: The name by which it is imported (it is not imported), or a folder of the system.
        paths: The files in it.
        parse: Makes arrays of their contents.
    """

    command: str
    home: str
    paths: tuple[str, ...]
    parse: Callable[[list[bytes]], Arrays]


@dataclasses.dataclass(frozen=True)
class Download:
    """Files at the original source.

    Args:
        urls: Where they are.
        parse: Makes arrays of their contents.
        sha256: Of the files, where known; the arrays are checked in any case.
    """

    urls: tuple[str, ...]
    parse: Callable[[list[bytes]], Arrays]
    sha256: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Loaded:
    """Arrays by name, and what is missing from them, if anything is."""

    arrays: Arrays
    partial: str | None = None


class AbstractDataset(ABC):
    """What is known of a data set; nothing is read before somebody asks."""

    title: ClassVar[str]
    source: ClassVar[str]
    licence: ClassVar[str]
    target: ClassVar[str]
    shape: ClassVar[tuple[int, ...]]
    fingerprint: ClassVar[str | None] = None
    recipe: ClassVar[Callable[[], Arrays] | None] = None
    layouts: ClassVar[tuple[Layout, ...]] = ()
    packages: ClassVar[tuple[Packaged, ...]] = ()
    downloads: ClassVar[tuple[Download, ...]] = ()

    def check(self, arrays: Arrays, where: Any) -> None:
        """Refuse arrays that are not the complete set."""
        first = next(iter(arrays.values()))
        if first.shape != self.shape:
            raise DatasetError(
                f"expected {self.title} with {self.shape} values in {where}; got {first.shape}."
            )
        if self.fingerprint is not None and fingerprint(arrays) != self.fingerprint:
            raise DatasetError(
                f"expected {self.title} with the checksum {self.fingerprint[:12]}... in {where}; "
                f"got {fingerprint(arrays)[:12]}.... The file is damaged or of another version: "
                "remove it."
            )


def fingerprint(arrays: Arrays) -> str:
    """A checksum of names, shapes and values, whatever file they are in."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
        digest.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()
