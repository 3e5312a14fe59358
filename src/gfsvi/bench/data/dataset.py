"""Data sets: their description, their checksum and the places they are loaded from."""

import dataclasses
import hashlib
from abc import ABC
from collections.abc import Callable
from typing import ClassVar

import numpy as np

Arrays = dict[str, np.ndarray]


class DatasetError(ValueError):
    """Raised if a data set is missing or invalid; the message is written for users."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """NumPy archives in a data folder that hold a data set.

    Args:
        paths: Paths below the folder, by the prefix that is added to the names of their arrays.
        partial: Description of the part that the files hold, if they are not complete.
    """

    paths: dict[str, str]
    partial: str | None = None


@dataclasses.dataclass(frozen=True)
class Packaged:
    """Files in an installed package that carries a data set.

    Args:
        command: Command that installs the package.
        home: Import name of the package, which is not imported, or an absolute folder.
        paths: Paths of the files below it.
        parse: Converts the contents of the files to arrays.
    """

    command: str
    home: str
    paths: tuple[str, ...]
    parse: Callable[[list[bytes]], Arrays]


@dataclasses.dataclass(frozen=True)
class Download:
    """Files at the original source of a data set.

    Args:
        urls: Addresses of the files.
        parse: Converts the contents of the files to arrays.
        sha256: Checksums of the files, if known; the arrays are checked in any case.
    """

    urls: tuple[str, ...]
    parse: Callable[[list[bytes]], Arrays]
    sha256: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Loaded:
    """Arrays by name, and a description of the part they are if they are not complete."""

    arrays: Arrays
    partial: str | None = None


class AbstractDataset(ABC):
    """Description of a data set and its sources; nothing is read until it is loaded."""

    title: ClassVar[str]
    """Name for readers; by default the first line of the docstring."""
    source: ClassVar[str]
    licence: ClassVar[str]
    target: ClassVar[str]
    shape: ClassVar[tuple[int, ...]]
    fingerprint: ClassVar[str | None] = None
    recipe: ClassVar[Callable[[], Arrays] | None] = None
    layouts: ClassVar[tuple[Layout, ...]] = ()
    packages: ClassVar[tuple[Packaged, ...]] = ()
    downloads: ClassVar[tuple[Download, ...]] = ()

    def __init_subclass__(cls) -> None:
        if "title" not in vars(cls):
            cls.title = (cls.__doc__ or cls.__name__).splitlines()[0].rstrip(".")

    def check(self, arrays: Arrays, where: object) -> None:
        """Raise if the arrays are not the complete data set.

        Args:
            arrays: The arrays to check.
            where: The place they come from, for the message.
        """
        first = next(iter(arrays.values()))
        if first.shape != self.shape:
            raise DatasetError(
                f"expected {self.title} of shape {self.shape} in {where}; got {first.shape}. "
                "Replace the file with the complete data set."
            )
        if self.fingerprint is not None and fingerprint(arrays) != self.fingerprint:
            raise DatasetError(
                f"expected {self.title} with the checksum {self.fingerprint[:12]}... in {where}; "
                f"got {fingerprint(arrays)[:12]}.... The file is damaged or another version: "
                "remove it."
            )


def fingerprint(arrays: Arrays) -> str:
    """Checksum of names, shapes and values that does not depend on the file format."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        little = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
        digest.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()
