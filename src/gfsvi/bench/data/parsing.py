"""Parsers for the files in which data sets are published."""

import csv
import gzip
import io
import zipfile
from collections.abc import Callable

import numpy as np

from gfsvi.bench.data.dataset import Arrays

Parse = Callable[[list[bytes]], Arrays]


def table(features: slice, target: int, *, separator: str | None = None, skip: int = 0) -> Parse:
    """Parser of text files with features and a target as columns; rows of all files are joined."""

    def parse(contents: list[bytes]) -> Arrays:
        values = np.concatenate([_numbers(content, separator, skip) for content in contents])
        return {"X": np.ascontiguousarray(values[:, features]), "y": values[:, target].copy()}

    return parse


def zipped(ending: str, parse: Parse) -> Parse:
    """Parser of the files in a zip archive whose names have the given ending."""

    def parse_all(contents: list[bytes]) -> Arrays:
        with zipfile.ZipFile(io.BytesIO(contents[0])) as archive:
            names = sorted(n for n in archive.namelist() if n.lower().endswith(ending))
            return parse([archive.read(name) for name in names])

    return parse_all


def images(contents: list[bytes]) -> Arrays:
    """Images and labels for training and testing, from files in MNIST's format."""
    names = ("x_train", "y_train", "x_test", "y_test")
    return {name: _idx(content) for name, content in zip(names, contents, strict=True)}


def currents(contents: list[bytes]) -> Arrays:
    """Positions and velocities of drifters, for training and as ground truth."""
    arrays: Arrays = {}
    for part, content in zip(("train", "test"), contents, strict=True):
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        for name, columns in {"X": ("lon", "lat"), "Y": ("ubar", "vbar")}.items():
            values = [[float(row[column]) for column in columns] for row in rows]
            arrays[f"{part}_{name}"] = np.array(values)
    return arrays


def _numbers(content: bytes, separator: str | None, skip: int) -> np.ndarray:
    return np.loadtxt(io.BytesIO(content), delimiter=separator, skiprows=skip, ndmin=2)


def _idx(content: bytes) -> np.ndarray:
    data = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    # Two zero bytes, the type (8 for unsigned bytes), the number of axes, then their lengths.
    num_axes = data[3]
    shape = np.frombuffer(data, ">i4", num_axes, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * num_axes).reshape(shape).copy()
