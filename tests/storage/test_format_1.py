"""Model files of format 1, written before modules moved: they load and predict as they did."""

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gfsvi.data import Data
from gfsvi.storage.format_1 import tag_of_old_name
from gfsvi.storage.model_file import FORMAT, read, write
from gfsvi.storage.tags import class_of

from .forging import changed, text_of

FOLDER = Path(__file__).parent / "format_1"
# Every class that files of format 1 were made of, by its name then.
NAMES = (FOLDER / "names.txt").read_text().split()
FILES = ("regressor.gfsvi", "classifier.gfsvi")

Arrays = dict[str, np.ndarray]


def arrays(path: Path) -> Arrays:
    with np.load(path) as archive:
        return dict(archive)


def equal(some: Arrays, others: Arrays) -> bool:
    """Whether these are the same arrays, bit for bit."""
    return some.keys() == others.keys() and all(
        (array.dtype, array.shape, array.tobytes())
        == (others[name].dtype, others[name].shape, others[name].tobytes())
        for name, array in some.items()
    )


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a process without the settings of the tests predicts with the files and with copies."""
    folder = tmp_path_factory.mktemp("format_1")
    plain = {n: v for n, v in os.environ.items() if not n.startswith(("JAX_", "XLA_"))}
    command = [sys.executable, str(FOLDER / "predicting.py"), str(folder)]
    subprocess.run(command, check=True, env=plain)
    return folder


def test_predictions_come_back_bit_for_bit(output):
    before, now = arrays(FOLDER / "predictions.npz"), arrays(output / "loaded.npz")
    if equal(arrays(FOLDER / "probe.npz"), arrays(output / "probe.npz")):
        assert equal(now, before)
    # Another processor, XLA or LAPACK rounds differently.
    assert now.keys() == before.keys()
    for name, array in before.items():
        np.testing.assert_allclose(now[name], array, rtol=1e-5, err_msg=name)


def test_a_file_saved_again_predicts_the_same_bit_for_bit(output):
    assert equal(arrays(output / "saved_again.npz"), arrays(output / "loaded.npz"))


def test_one_bit_would_be_noticed(output):
    now = arrays(output / "loaded.npz")
    changed = now | {"mean": np.nextafter(now["mean"], np.inf)}
    assert equal(now, dict(now)) and not equal(changed, now)


@pytest.mark.parametrize("file", FILES)
def test_a_file_saved_again_is_of_the_newest_format_and_names_no_module(output, file):
    before, after = (text_of((folder / file).read_bytes()) for folder in (FOLDER, output))
    assert '"format":1' in before and re.search(r"gfsvi\.\w+", before)
    assert f'"format":{FORMAT}' in after and not re.search(r"gfsvi\.\w+", after)


@pytest.mark.parametrize("name", NAMES)
def test_every_class_of_format_1_is_found(name):
    assert dataclasses.is_dataclass(class_of(tag_of_old_name(name)))


def test_different_classes_of_format_1_have_different_tags():
    assert len({tag_of_old_name(name) for name in NAMES}) == len(NAMES) > 80


def test_fields_added_since_have_the_value_they_had_in_effect(tmp_path):
    write(tmp_path / "model.gfsvi", {"x": np.ones((2, 1)), "y": np.ones(2)})
    x, y = ({"array": number, "dtype": "float64"} for number in (0, 1))
    node = {"class": "gfsvi.data.Data", "fields": {"x": x, "y": y}}
    data = (tmp_path / "model.gfsvi").read_bytes()
    data = changed(data, content={"dict": [["rows", node]]}, format=1)
    (tmp_path / "model.gfsvi").write_bytes(data)
    rows = read(tmp_path / "model.gfsvi")["rows"]
    assert type(rows) is Data and rows.weights is None and rows.y.shape == (2,)


def test_the_files_hold_only_classes_that_are_listed():
    texts = [text_of((FOLDER / file).read_bytes()) for file in FILES]
    held = {name for text in texts for name in re.findall(r'"class":"([^"]+)"', text)}
    assert len(held) > 10 and held <= set(NAMES)
