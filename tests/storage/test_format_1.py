"""Model files of format 1, written before modules moved: they load and predict as they did."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gfsvi
from gfsvi.covariances import Kronecker
from gfsvi.data import Data
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.calibration import HeldOut, MostProbable, NoCalibration
from gfsvi.inference.mean_fit import GaussNewtonMean, TrainedMean
from gfsvi.methods import GFSVI, ExactGP, Laplace, SparseGP
from gfsvi.methods.gfsvi import Subsampling
from gfsvi.networks import MLP
from gfsvi.storage.format_1 import tag_of_old_name, upgraded_fields
from gfsvi.storage.model_file import FORMAT, ModelFileError, read, write
from gfsvi.storage.tags import class_of
from gfsvi.training.optimizers import LBFGS, Adam, FullBatchUpTo
from gfsvi.training.settings import Training

from .forging import changed, text_of
from .model_contents import assert_same

FOLDER = Path(__file__).parent / "format_1"
# Every class that files of format 1 were made of, with its fields, by its name then.
FIELDS = json.loads((FOLDER / "fields.json").read_text())
NAMES = tuple(FIELDS)
FILES = ("regressor.gfsvi", "classifier.gfsvi", "objects.gfsvi", "method.gfsvi")

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
    # Another processor, XLA, LAPACK or NumPy rounds differently.
    assert now.keys() == before.keys()
    for name, array in before.items():
        np.testing.assert_allclose(now[name], array, rtol=1e-5, err_msg=name)


def test_a_file_saved_again_predicts_the_same_bit_for_bit(output):
    assert equal(arrays(output / "saved_again.npz"), arrays(output / "loaded.npz"))


def test_one_bit_would_be_noticed(output):
    now = arrays(output / "loaded.npz")
    changed = now | {"mean": np.nextafter(now["mean"], np.inf)}
    assert equal(now, dict(now)) and not equal(changed, now)


@pytest.mark.parametrize("file", FILES[:2])
def test_a_file_saved_again_is_of_the_newest_format_and_names_no_module(output, file):
    before, after = (text_of((folder / file).read_bytes()) for folder in (FOLDER, output))
    assert '"format":1' in before and re.search(r"gfsvi\.\w+", before)
    assert f'"format":{FORMAT}' in after and not re.search(r"gfsvi\.\w+", after)


@pytest.mark.parametrize("name", NAMES)
def test_every_class_of_format_1_is_found(name):
    assert dataclasses.is_dataclass(class_of(tag_of_old_name(name)))


def test_different_classes_of_format_1_have_different_tags():
    assert len({tag_of_old_name(name) for name in NAMES}) == len(NAMES) > 80


@pytest.fixture(scope="module")
def objects() -> dict[str, dict[str, Any]]:
    """Objects written before methods and their training got the fields they have now."""
    return read(FOLDER / "objects.gfsvi")


def test_every_class_that_built_without_arguments_is_read_with_the_fields_it_has_now(objects):
    assert len(objects["defaults"]) > 50
    for name, value in objects["defaults"].items():
        assert type(value) is class_of(tag_of_old_name(name))
        assert vars(value).keys() == {field.name for field in dataclasses.fields(value)}


@pytest.mark.parametrize("name", NAMES)
def test_the_fields_of_every_class_of_format_1_become_those_of_today(name):
    tag = tag_of_old_name(name)
    upgraded = upgraded_fields(tag, dict.fromkeys(FIELDS[name]))
    assert set(upgraded) == {field.name for field in dataclasses.fields(class_of(tag))}


def test_objects_saved_again_come_back_the_same(objects, tmp_path):
    write(tmp_path / "objects.gfsvi", objects)
    assert_same(read(tmp_path / "objects.gfsvi"), objects)


QUICK = Training(7, Adam(0.5, 40, max_step_multiplier=3.0), evaluate_every=2, patience=4)
# What a GFSVI of format 1 had by default, whatever the defaults are today.
BEFORE = GFSVI(
    covariance=Kronecker(),
    gamma=1e-10,
    mean=AutoMean(
        GaussNewtonMean(num_steps=20, num_rounds=4),
        TrainedMean(
            Training(
                2000, FullBatchUpTo(20_000, Adam(3e-3, max_step_multiplier=4)), evaluate_every=100
            )
        ),
    ),
    training=Training(150, Adam(2e-2, max_step_multiplier=4), evaluate_every=10),
    calibration=HeldOut(1.0, leave_one_out=True),
    subsampling=Subsampling(None, None),
)
LAPLACE = Laplace(training=Training(3000, Adam(2e-2), evaluate_every=100), num_rounds=30)
NOW = {
    "training": QUICK,
    "training with all rows": replace(QUICK, optimizer=FullBatchUpTo(900, QUICK.optimizer)),
    "quasi-Newton training": replace(QUICK, optimizer=LBFGS()),
    "no calibration": replace(LAPLACE, calibration=NoCalibration()),
    "half calibrated": ExactGP(num_starts=0, calibration=HeldOut(0.5)),
    "most probable": replace(BEFORE, calibration=MostProbable()),
    "without leaving rows out": replace(BEFORE, calibration=HeldOut(0.5)),
    "Gauss-Newton": replace(BEFORE, mean=GaussNewtonMean()),
    "never Gauss-Newton": replace(BEFORE, mean=TrainedMean(QUICK)),
    "no mean fit": replace(BEFORE, mean=None),
    "Gauss-Newton or nothing": replace(BEFORE, mean=GaussNewtonMean()),
    "subsampled": replace(
        BEFORE,
        network=MLP((5,)),
        mean=AutoMean(otherwise=TrainedMean(QUICK)),
        training=QUICK,
        subsampling=Subsampling(num_samples=3, num_outputs=2),
    ),
}


@pytest.mark.parametrize("name", NOW)
def test_methods_and_their_training_mean_what_they_meant(objects, name):
    assert_same(objects["variants"][name], NOW[name])


def test_a_method_with_its_defaults_keeps_those_of_its_time(objects):
    assert objects["variants"].keys() == NOW.keys()
    assert_same(objects["defaults"]["gfsvi.methods.gfsvi.GFSVI"], BEFORE)


def test_a_fitted_estimator_keeps_the_method_it_was_given(tmp_path):
    estimator, record = (
        gfsvi.load(FOLDER / "method.gfsvi"),
        arrays(FOLDER / "method_predictions.npz"),
    )
    training = Training(40, Adam(0.02, 30, max_step_multiplier=2.0))
    method = SparseGP(num_inducing=12, training=training, calibration=MostProbable())
    assert_same(estimator.get_params()["method"], method)
    estimator.save(tmp_path / "again.gfsvi")
    again = gfsvi.load(tmp_path / "again.gfsvi")
    assert_same(again.get_params()["method"], method)
    for loaded in (estimator, again):
        predicted = loaded.predict_distribution(record["x"])
        np.testing.assert_allclose(predicted.mean, record["mean"], rtol=1e-5)
        np.testing.assert_allclose(predicted.std, record["std"], rtol=1e-5)


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


@pytest.mark.parametrize("name", ["target_spread_", "input_centre_", "posterior_"])
def test_a_file_without_an_attribute_gets_one_sentence(tmp_path, name):
    data = (FOLDER / "regressor.gfsvi").read_bytes()
    content = json.loads(text_of(data))["content"]
    (attributes,) = [value for key, value in content["dict"] if key == "fitted"]
    attributes["dict"] = [pair for pair in attributes["dict"] if pair[0] != name]
    (tmp_path / "evil.gfsvi").write_bytes(changed(data, content=content))
    with pytest.raises(ModelFileError, match="expected a (gfsvi|fitted) model") as caught:
        gfsvi.load(tmp_path / "evil.gfsvi")
    assert "\n" not in str(caught.value)
