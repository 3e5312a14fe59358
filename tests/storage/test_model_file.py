"""Model files: the same bytes for the same content, put in place whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import covariances, kernels, likelihoods
from gfsvi.model import Model
from gfsvi.storage import model_file as persistence
from gfsvi.storage.model_file import ModelFileError, fingerprint, read, write

from .model_contents import CONTENTS, X, linearized


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.gfsvi"


def test_the_same_content_makes_the_same_bytes(path):
    written = []
    for _ in range(2):
        write(path, {"all": list(CONTENTS.values())})
        written.append(path.read_bytes())
    assert written[0] == written[1]


PREDICT = """
import sys, numpy as np
from gfsvi.persistence import read
content = read(sys.argv[1])
predictive = content["model"].predict(content["x"])
np.save(sys.argv[2], np.stack([predictive.mean, predictive.std]))
"""


def test_predictions_are_the_same_to_the_bit_in_a_new_process(path, tmp_path):
    model = Model(linearized(covariances.Kronecker()), likelihoods.Normal(0.3))
    write(path, {"model": model, "x": X})
    output = tmp_path / "predicted.npy"
    # Compiled with the settings of the tests: others may add up in another order.
    environment = os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "JAX_ENABLE_X64": "1"}
    command = [sys.executable, "-c", PREDICT, str(path), str(output)]
    subprocess.run(command, check=True, env=environment)
    here = model.predict(X)
    assert np.load(output).tobytes() == np.stack([here.mean, here.std]).tobytes()


def test_endless_nesting_is_refused_in_words(path):
    endless: list = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="nested"):
        write(path, {"endless": endless})
    with pytest.raises(ModelFileError, match="nested"):
        fingerprint({"endless": endless})


def test_more_text_than_can_be_read_is_refused(path, monkeypatch):
    monkeypatch.setattr(persistence, "_MAX_HEADER", 1000)
    with pytest.raises(ModelFileError, match="at most 1,000 bytes of text"):
        write(path, {"long": "a" * 2000})
    assert not path.exists()


def test_a_failure_leaves_the_old_file_and_no_other(path, monkeypatch):
    write(path, {"a": 1})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match="cannot be written: No space left on device"):
        write(path, {"a": 2})
    assert read(path) == {"a": 1}
    assert os.listdir(path.parent) == [path.name]


def test_an_interruption_leaves_the_old_file_and_no_other(path, monkeypatch):
    write(path, {"a": 1})

    def interrupt(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, {"a": 2})
    assert read(path) == {"a": 1}
    assert os.listdir(path.parent) == [path.name]


def test_what_a_killed_writer_left_is_swept_by_the_next(path):
    left = path.with_name(".model.gfsvi.0123abcd.part")
    others = [path.with_name(f".{name}") for name in ("other.gfsvi.0123abcd.part", "model.gfsvi")]
    for file in (left, *others):
        file.write_bytes(b"half a model")
    write(path, {"a": 1})
    assert not left.exists()
    assert all(other.exists() for other in others)


def test_what_a_living_writer_writes_is_not_swept(path, monkeypatch):
    flush, seen = os.fsync, []

    def write_another(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", flush)
        write(path, {"a": "second"})
        seen.append(read(path))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", write_another)
    write(path, {"a": "first"})
    assert seen == [{"a": "second"}] and read(path) == {"a": "first"}
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("place", [".", "no_such_folder/model.gfsvi", "a\0b"])
def test_a_path_that_cannot_be_written_is_refused(tmp_path, place):
    with pytest.raises(ModelFileError, match="cannot be written"):
        write(tmp_path / place, {})
    assert os.listdir(tmp_path) == []


def test_a_pipe_or_device_is_not_replaced_by_a_file(path):
    os.mkfifo(path)
    with pytest.raises(ModelFileError, match="model.gfsvi cannot be written: it is not a file"):
        write(path, {})
    assert path.is_fifo()


def test_others_may_read_the_file_as_usual(path):
    write(path, {})
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    write(link, {"a": 1})
    assert link.is_symlink() and read(path) == read(link) == {"a": 1}


def test_equal_content_has_one_fingerprint():
    once, again = ({"k": kernels.RBF([1.0, 2.0]), "x": X.copy()} for _ in range(2))
    assert fingerprint(once) == fingerprint(again) == fingerprint({**once, "x": jnp.asarray(X)})
    assert len(fingerprint(once)) == 64


@pytest.mark.parametrize(
    "other",
    [
        {"x": X.astype(np.float32)},
        {"x": X.reshape(2, 4)},
        {"x": np.nextafter(X, 9)},
        {"x": list(X)},
        {"y": X},
        {"x": X, "k": 1},
        {"x": X, "k": 1.0},
        {"x": X, "k": True},
        {"x": X, "k": "1"},
        {"x": X, "k": (1,)},
        {"x": X, "k": kernels.RBF()},
        {"x": X, "k": kernels.Matern52()},
    ],
)
def test_any_difference_changes_the_fingerprint(other):
    contents = [{"x": X}, {"x": X, "k": [1]}, {"x": X, "k": kernels.RBF(2.0)}]
    assert fingerprint(other) not in map(fingerprint, contents)
