"""Which tables are read piece by piece, and which are read into memory."""

import os
from pathlib import Path

from gfsvi.tables.reading import TableFile
from gfsvi.tables.sources import ENDINGS, LARGE, TableFiles

SMALL = LARGE // 64
"""Bytes of a file that cannot hold a large table, unless it is Parquet."""


def streamed_source(path: str, stream: bool = False, in_memory: bool = False) -> TableFiles | None:
    """The files of a table to be read piece by piece; None for one that is read into memory."""
    if in_memory or not (stream or _may_be_large(path)):
        return None
    source = TableFiles.at(path)
    return source if stream or source.is_large else None


def table_in_memory(path: str) -> TableFile | TableFiles:
    """A table to be read into memory: a file, or all files of a folder or pattern."""
    return TableFiles.at(path) if are_several(path) else TableFile(path)


def are_several(path: str) -> bool:
    """Whether a path is a folder or a pattern."""
    return os.path.isdir(path) or (any(mark in path for mark in "*?[") and not os.path.exists(path))


def _may_be_large(path: str) -> bool:
    if are_several(path):
        return True
    if not os.path.isfile(path):
        return False
    ending = ENDINGS.get(Path(path.removesuffix(".gz")).suffix.lower())
    if ending == "csv":
        return os.path.getsize(path) > (SMALL if path.endswith(".gz") else LARGE)
    return ending == "parquet" and os.path.getsize(path) > SMALL
