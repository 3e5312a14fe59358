"""Model files: the same bytes for the same content, and no class named by its module."""

import os
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import covariances, kernels, likelihoods
from gfsvi.model import Model
from gfsvi.storage import container
from gfsvi.storage.files import WriteError
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
from gfsvi.storage.model_file import read
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
    monkeypatch.setattr(container, "MAX_TEXT", 1000)
    with pytest.raises(ModelFileError, match="at most 1,000 bytes of text"):
        write(path, {"long": "a" * 2000})
    assert not path.exists()


def test_a_failure_leaves_the_old_file_and_no_other(path, monkeypatch):
    write(path, {"a": 1})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="cannot be written: No space left on device"):
        write(path, {"a": 2})
    assert read(path) == {"a": 1}
    assert os.listdir(path.parent) == [path.name]


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
