"""Damaged and foreign files: refused in one sentence, and nothing in them is run."""

import json
import math
import os
import pickle
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
from gfsvi.storage import container, model_file
from gfsvi.storage.model_file import ModelFileError, read, write

from .forging import changed, refused, text_of
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
    refused(path, pickle.dumps(Trap(), protocol=protocol), "is a pickle and is never opened")


def test_a_zip_of_pickles_is_never_opened(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Trap()))
    refused(path, path.read_bytes(), "is a pickle and is never opened")


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
def test_foreign_files_are_refused_in_one_sentence(path, data, match):
    refused(path, data, match)


def test_a_newer_format_asks_for_an_update(path, valid):
    message = "has format 3, this library reads up to 2: update gfsvi"
    refused(path, changed(valid[0], format=3), message)


def test_another_kind_of_file_is_told(path):
    write(path, {"step": 3}, kind="checkpoint")
    assert read(path, kind="checkpoint") == {"step": 3}
    with pytest.raises(ModelFileError, match="holds a model; .* holds a checkpoint"):
        read(path)


def test_changes_with_a_fitting_checksum_are_read(path, valid):
    path.write_bytes(changed(valid[0], content={"dict": [["a", 1]]}))
    assert read(path) == {"a": 1}


@pytest.mark.parametrize("field", ["kind", "library", "content"])
def test_a_header_without_one_of_its_fields_is_refused(path, valid, field):
    header = json.loads(text_of(valid[0]))
    del header[field], header["checksum"]
    header["checksum"] = container.digest(header, [])
    data = safetensors.numpy.save({}, metadata={"gfsvi": json.dumps(header)})
    refused(path, data, "its header is incomplete")


def test_a_duplicate_key_is_refused_wherever_it_is(path, valid):
    text = text_of(valid[0])
    tensors = safetensors.numpy.load(valid[0])
    for twice in (
        text.replace("{", '{"kind":"model",', 1),
        text.replace('"fields":{', '"fields":{"function":1,', 1),
    ):
        assert twice != text
        data = safetensors.numpy.save(tensors, metadata={"gfsvi": twice})
        refused(path, data, "do not fit together")


def test_a_second_metadata_block_is_refused(path, valid):
    length = int.from_bytes(valid[0][:8], "little")
    header = valid[0][8 : 8 + length].replace(b"{", b'{"__metadata__":{"gfsvi":"{}"},', 1)
    data = len(header).to_bytes(8, "little") + header + valid[0][8 + length :]
    refused(path, data, "damaged or foreign")


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"tuple":[', "]}"), ('{"object":"kernel:scaled","fields":{"kernel":', "1}}")],
)
def test_nesting_that_no_parser_takes_is_refused(path, valid, opening, closing):
    nested = opening * 100_000 + closing * 100_000
    text = text_of(valid[0]).replace('"content":', f'"content":{nested},"other":')
    data = safetensors.numpy.save({}, metadata={"gfsvi": text})
    refused(path, data, "damaged or foreign: its parts do not fit together")


def test_nesting_that_decoding_does_not_take_is_refused(path, valid, monkeypatch):
    def too_deep(*tree: object, version: int) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr(model_file, "decode", too_deep)
    refused(path, valid[0], "damaged or foreign: its content is nested too deeply")


def test_damage_is_found_wherever_it_is(path, valid):
    data, _ = valid
    broken = bytearray(data)
    broken[-1] ^= 1
    refused(path, bytes(broken), "its checksum does not match")
    assert b"kernel:rbf" in data
    refused(path, data.replace(b"kernel:rbf", b"kernel:rbg"), "checksum")
    refused(path, data.replace(b'"shape":[5]', b'"shape":[6]'), "damaged")
    refused(path, data[: len(data) // 2], "damaged")
    refused(path, data + b"\0", "damaged")
    tensors = safetensors.numpy.load(data)
    del tensors["000000"]
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    refused(path, safetensors.numpy.save(tensors, metadata=header), "damaged")


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
