"""Damaged, forged and foreign files: refused in words, and nothing of them is run."""

import json
import math
import os
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from gfsvi import kernels, likelihoods
from gfsvi.functions import GaussianProcess
from gfsvi.model import Model
from gfsvi.storage import model_file as persistence
from gfsvi.storage.model_file import ModelFileError, read, write

from .model_contents import assert_same


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.gfsvi"


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> tuple[bytes, dict]:
    """The bytes of a small file, and what is in it."""
    content = {"model": Model(GaussianProcess(kernels.RBF([0.5, 2.0])), likelihoods.Normal())}
    content |= {"rows": np.arange(5), "name": "é", "score": math.inf}
    path = tmp_path_factory.mktemp("valid") / "model.gfsvi"
    write(path, content)
    return path.read_bytes(), content


def _refused(path: Path, data: bytes, match: str) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as caught:
        read(path)
    assert str(path) in str(caught.value)


def _changed(path: Path, data: bytes, **changes) -> bytes:
    """The same file with other header fields, its checksum made to fit."""
    tensors = safetensors.numpy.load(data)
    header = json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
                        ["__metadata__"]["gfsvi"])  # fmt: skip
    header = {**header, **changes}
    del header["checksum"]
    header["checksum"] = persistence._digest(header, [tensors[n] for n in sorted(tensors)])
    return safetensors.numpy.save(tensors, metadata={"gfsvi": json.dumps(header)})


def test_a_missing_file_and_a_directory_are_named(tmp_path):
    with pytest.raises(ModelFileError, match="none.gfsvi cannot be read: No such file"):
        read(tmp_path / "none.gfsvi")
    with pytest.raises(ModelFileError, match="cannot be read: it is not a file"):
        read(tmp_path)
    with pytest.raises(ModelFileError, match="null"):
        read("a\0b")


def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a file"):
        read(tmp_path / "pipe")


class Trap:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was opened')",))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_never_opened(path, protocol):
    _refused(path, pickle.dumps(Trap(), protocol=protocol), "is a pickle and is never opened")


def test_a_zip_of_pickles_is_never_opened(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Trap()))
    _refused(path, path.read_bytes(), "is a pickle and is never opened")


def test_a_model_whose_first_bytes_look_like_a_pickle_is_read(path):
    first_bytes = set()
    for length in range(0, 300, 8):
        content = {"text": "a" * length}
        write(path, content)
        first_bytes.add(path.read_bytes()[0])
        assert read(path) == content
    assert 0x80 in first_bytes


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n3,4\n", "is something else"),
        (b"12345678{}", "damaged or foreign"),
        (pickle.dumps(Trap(), protocol=0), "is something else"),
        (safetensors.numpy.save({"a": np.ones(2)}), "safetensors file of another program"),
        (safetensors.numpy.save({"a": np.ones(2)}, metadata={"gfsvi": "[1]"}), "foreign"),
        (safetensors.numpy.save({}, metadata={"gfsvi": "[" * 100_000}), "foreign"),
        (safetensors.numpy.save({}, metadata={"gfsvi": '{"format": 1}'}), "damaged"),
        (safetensors.numpy.save({}, metadata={"gfsvi": '{"format": "x"}'}), "its format is 'x'"),
        (safetensors.numpy.save({}, metadata={"gfsvi": '{"format": true}'}), "its format is True"),
        (b"\xff" * 8 + b"{" + b"[" * 10**5, "foreign"),
        (safetensors.numpy.save({}, metadata={"gfsvi": f"{{{'1' * 9999}"}), "foreign"),
    ],
)
def test_foreign_files_are_refused_in_words(path, data, match):
    _refused(path, data, match)


def test_a_newer_format_asks_for_an_update(path, valid):
    message = "has format 2, this library reads up to 1: update gfsvi"
    _refused(path, _changed(path, valid[0], format=2), message)


def test_another_kind_of_file_is_told(path):
    write(path, {"step": 3}, kind="checkpoint")
    assert read(path, kind="checkpoint") == {"step": 3}
    with pytest.raises(ModelFileError, match="holds a model; .* holds a checkpoint"):
        read(path)


def test_changes_with_a_fitting_checksum_are_read(path, valid):
    path.write_bytes(_changed(path, valid[0], content={"dict": [["a", 1]]}))
    assert read(path) == {"a": 1}


RBF = "gfsvi.kernels.rbf.RBF"
NUMBER = {"array": 0, "dtype": "float64"}
FORGED = {
    "stranger": ({"class": "os.system", "fields": {}}, "no class that this version can load"),
    "other_module": ({"class": "gfsvi.cli.main", "fields": {}}, "no class"),
    "imported": ({"class": "gfsvi.kernels.rbf.AbstractStationaryKernel", "fields": {}}, "no class"),
    "abstract": ({"class": "gfsvi.kernels.base.AbstractKernel", "fields": {}}, "no class"),
    "function": ({"class": "gfsvi.kernels.distances.as_rows", "fields": {}}, "no class"),
    "not_a_dataclass": ({"class": "gfsvi.training.settings.Progress", "fields": {}}, "no class"),
    "dotted": ({"class": "gfsvi.kernels.rbf.jnp.array", "fields": {}}, "no class"),
    "relative": ({"class": ".rbf.RBF", "fields": {}}, "no class"),
    "number": ({"class": 1, "fields": {}}, "malformed"),
    "list": ({"class": [], "fields": {}}, "malformed"),
    "missing_field": (
        {"class": RBF, "fields": {"variance": NUMBER}},
        "RBF expects the fields lengthscale, variance; got variance.*written by gfsvi",
    ),
    "extra_field": (
        {"class": RBF, "fields": {"variance": NUMBER, "lengthscale": NUMBER, "__class__": 1}},
        "RBF expects the fields",
    ),
    "no_fields": ({"class": RBF}, "malformed"),
    "check": (
        {
            "class": "gfsvi.kernels.algebra.ActiveDimensions",
            "fields": {"kernel": 1, "dimensions": [-1]},
        },
        "expects their numbers, counted from 0",
    ),
    "check_of_an_ancestor": (
        {"class": RBF, "fields": {"variance": NUMBER, "lengthscale": 1.0}},
        "RBF expects one number as variance",
    ),
    "activation": ({"function": "system"}, "holds the function 'system'"),
    "unknown_tag": ({"complex": [1, 2]}, "malformed|holds the complex"),
    "no_tag": ({}, "damaged"),
    "no_such_array": ({"array": 99, "dtype": "float64"}, "malformed"),
    "no_such_dtype": ({"array": 0, "dtype": "object"}, "malformed"),
    "key": ({"key": "mine", "data": NUMBER}, "holds the key"),
    "key_data": ({"key": "rbg", "data": NUMBER}, "malformed|cannot be read"),
    "unhashable": ({"dict": [[[1], 2]]}, "malformed"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_content_runs_nothing(path, name):
    node, match = FORGED[name]
    write(path, {"numbers": np.ones(2)})
    data = _changed(path, path.read_bytes(), content={"dict": [["v", node]]})
    _refused(path, data, match)


def test_forged_content_imports_nothing(path):
    before = set(sys.modules)
    write(path, {})
    for name in ("antigravity.Class", "gfsvi.__main__.Class", "gfsvi.kernels.../x.Class"):
        node = {"class": name, "fields": {}}
        data = _changed(path, path.read_bytes(), content={"dict": [["v", node]]})
        _refused(path, data, "no class")
        write(path, {})
    assert "antigravity" not in set(sys.modules) - before
    assert "gfsvi.__main__" not in sys.modules


def test_damage_is_found_wherever_it_is(path, valid):
    data, _ = valid
    broken = bytearray(data)
    broken[-1] ^= 1
    _refused(path, bytes(broken), "its checksum does not fit")
    _refused(path, data.replace(b"gfsvi.kernels.rbf", b"gfsvi.kernels.rbg"), "checksum")
    _refused(path, data.replace(b'"shape":[5]', b'"shape":[6]'), "damaged")
    _refused(path, data[: len(data) // 2], "damaged")
    _refused(path, data + b"\0", "damaged")
    tensors = safetensors.numpy.load(data)
    del tensors["000000"]
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    _refused(path, safetensors.numpy.save(tensors, metadata=header), "damaged")


def _whole_or_refused(path: Path, data: bytes, content: dict) -> None:
    path.write_bytes(data)
    try:
        after = read(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
    else:
        assert_same(after, content)


@settings(max_examples=300)
@given(data=st.data())
def test_flipped_bytes_never_go_unnoticed(tmp_path_factory, valid, data):
    whole, content = valid
    path = tmp_path_factory.getbasetemp() / "flipped"
    broken = bytearray(whole)
    flips = st.tuples(st.integers(0, len(whole) - 1), st.integers(1, 255))
    for position, change in data.draw(st.lists(flips, min_size=1, max_size=3)):
        broken[position] ^= change
    _whole_or_refused(path, bytes(broken), content)


@settings(max_examples=60)
@given(data=st.data())
def test_cut_and_stretched_files_never_go_unnoticed(tmp_path_factory, valid, data):
    whole, content = valid
    path = tmp_path_factory.getbasetemp() / "cut"
    end = data.draw(st.integers(0, len(whole)))
    _whole_or_refused(path, whole[:end] + data.draw(st.binary(max_size=9)), content)
