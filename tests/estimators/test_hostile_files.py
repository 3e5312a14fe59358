"""A stranger's model file: nothing is set that is not on a list, and no size is taken on trust."""

import dataclasses
import json
import os
import resource
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from sklearn.base import clone

from gfsvi import GFSVIRegressor, load
from gfsvi.functions.means import Constant
from gfsvi.storage import container
from gfsvi.storage import model_file as persistence
from gfsvi.storage.model_file import ModelFileError
from gfsvi.tables import Categories


@pytest.fixture
def forged(saved, tmp_path):
    """Write the saved model with other parameters or other fields, and load it."""

    def forged(parameters: dict | None = None, **fields):
        content = persistence.read(saved)
        fitted = dataclasses.replace(content["fitted"], **fields)
        path = tmp_path / "forged.gfsvi"
        content |= {"fitted": fitted, "parameters": content["parameters"] | (parameters or {})}
        persistence.write(path, content)
        return load(path)

    return forged


def edited(saved: Path, path: Path, old: str, new: str) -> Path:
    """The saved model with other text in its header, its checksum made to fit."""
    tensors = safetensors.numpy.load(saved.read_bytes())
    data = saved.read_bytes()
    outer = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    text = outer["__metadata__"]["gfsvi"]
    assert old in text
    header = json.loads(text.replace(old, new, 1))
    del header["checksum"]
    header["checksum"] = container.digest(header, [tensors[name] for name in sorted(tensors)])
    path.write_bytes(safetensors.numpy.save(tensors, metadata={"gfsvi": json.dumps(header)}))
    return path


def test_what_these_forgeries_are_made_of_is_loaded(forged, houses):
    assert np.all(np.isfinite(forged({"hidden": [3]}).predict(houses)))


@pytest.mark.parametrize("name", ["checkpoint", "watch", "time_budget", "fitted_", "method_"])
def test_only_parameters_of_the_model_are_taken(forged, name):
    with pytest.raises(ModelFileError, match=f"expected the parameters of a fit .* '{name}' too"):
        forged({name: "elsewhere.txt"})


@pytest.mark.parametrize("name", ["__class__", "predict_distribution", "fit", "__init__", ""])
def test_no_attribute_of_an_estimator_is_replaced(forged, name):
    with pytest.raises(ModelFileError, match="expected the parameters of a fit"):
        forged({name: 3})


HOSTILE = {
    "a size that no memory holds": {"num_points": 10**10},
    "a width that no memory holds": {"hidden": (10**9,)},
    "layers that no memory holds together": {"hidden": (10_000,) * 10},
    "layers by the thousand": {"hidden": (1,) * 5000},
    "a negative width": {"hidden": (-5,)},
    "a fraction as a width": {"hidden": (2.5,)},
    "text as a width": {"hidden": "abc"},
    "a truth value as a size": {"num_points": True},
    "a number as a kernel": {"kernel": 3},
    "a mean as a kernel": {"kernel": Constant(1.0)},
    "a list as a likelihood": {"likelihood": ["normal"]},
    "a number of steps beyond all": {"num_steps": 10**30},
    "text as gamma": {"gamma": "1e-3"},
    "text as a seed": {"random_state": "now"},
    "an array as a network": {"network": np.ones(3)},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_parameters_get_one_sentence(forged, name):
    with pytest.raises(ModelFileError, match="expected the parameters of a fit") as caught:
        forged(HOSTILE[name])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_path_of_a_checkpoint_inside_of_a_method_is_refused(saved, tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    settings = {"num_steps": 5, "evaluate_every": 5, "patience": 2, "watch": None}
    settings |= {"optimizer": {"object": "optimizer:lbfgs", "fields": {}}}
    settings |= {"checkpoint": str(victim)}
    training = {"object": "training:training", "fields": settings}
    method = json.dumps({"object": "method:map", "fields": {"training": training}})
    path = edited(saved, tmp_path / "evil", '["kernel",', f'["method",{method}],["kernel",')
    with pytest.raises(ModelFileError, match=r"a Training with the checkpoint '.*wrong kind"):
        load(path)
    settings["checkpoint"] = {"function": "tanh"}
    method = json.dumps({"object": "method:map", "fields": {"training": training}})
    path = edited(saved, tmp_path / "evil", '["kernel",', f'["method",{method}],["kernel",')
    with pytest.raises(ModelFileError, match="a Training with the checkpoint object of type"):
        load(path)


def test_what_is_loaded_and_cloned_writes_nothing_when_it_is_fitted(
    saved, tmp_path, monkeypatch, numbers
):
    monkeypatch.chdir(tmp_path)
    estimator = clone(load(saved))
    assert {n: getattr(estimator, n) for n in ("checkpoint", "watch", "time_budget")} == {
        "checkpoint": None,
        "watch": None,
        "time_budget": None,
    }
    before = sorted(os.listdir())
    opened = []
    monkeypatch.setattr("gfsvi.storage.files.write_bytes", lambda *words: opened.append(words))
    estimator.set_params(num_steps=1, kernel="rbf", hidden=(3,))
    estimator.fit(np.asarray(numbers, float), np.arange(len(numbers), dtype=float))
    assert sorted(os.listdir()) == before and opened == []


MISFITS = {
    "a centre of another table": {"input_centre": np.zeros(99)},
    "a spread of zero": {"input_spread": 0.0},
    "a centre that is not a number": {"input_centre": np.nan},
    "other features": {"feature_names": ("a",)},
}


@pytest.mark.parametrize("name", MISFITS)
def test_parts_that_do_not_fit_together_get_one_sentence(forged, name):
    with pytest.raises(ModelFileError, match="do not fit together. Copy it again") as caught:
        forged(**MISFITS[name])
    assert "\n" not in str(caught.value)


def test_numbers_that_are_none_get_one_sentence(forged, saved):
    posterior = persistence.read(saved)["fitted"].posterior
    shift = np.full_like(posterior.function.shift, np.nan)
    function = dataclasses.replace(posterior.function, shift=shift)
    with pytest.raises(ModelFileError, match="do not fit together"):
        forged(posterior=dataclasses.replace(posterior, function=function))


def test_arrays_of_other_shapes_get_one_sentence(saved, tmp_path):
    """Axes of one name have one size in the whole object."""
    content = persistence.read(saved)
    function = content["fitted"].posterior.function
    wrong = dataclasses.replace(function, whitener=np.eye(3))
    persistence.write(tmp_path / "forged.gfsvi", {"function": wrong})
    with pytest.raises(ModelFileError, match="a ConjugateNetwork with the whitener array of"):
        persistence.read(tmp_path / "forged.gfsvi")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"num_points":', '"num_points":1000000000'),
        ('"outputs":1', '"outputs":10000000000'),
        ('"outputs":1', '"outputs":-1'),
        ('"outputs":1', '"outputs":"1"'),
        ('"hidden":{"tuple":[', '"hidden":{"tuple":[1e10,'),
        ('"are_named":true', '"are_named":"yes"'),
        ('"task":"regression"', '"task":7'),
    ],
)
def test_sizes_and_kinds_of_fields_are_checked_before_anything_is_made(saved, tmp_path, old, new):
    with pytest.raises(ModelFileError) as caught:
        load(edited(saved, tmp_path / "evil.gfsvi", old, new))
    assert "\n" not in str(caught.value)


def test_categories_by_the_hundred_thousand_are_refused(forged, saved):
    preparation = persistence.read(saved)["fitted"].preparation
    columns = (*preparation.columns, Categories("c", tuple(map(str, range(100_000))), True, True))
    with pytest.raises(ModelFileError, match="a Categories with the levels a tuple of str"):
        forged(preparation=dataclasses.replace(preparation, columns=columns))


def test_more_bytes_than_a_model_has_are_not_read(tmp_path):
    path = tmp_path / "large.gfsvi"
    with open(path, "wb") as file:
        file.write(b"\x10" + bytes(7) + b"{")
        file.truncate(10**12)  # a file with a hole takes no space
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelFileError, match="it has 1,000,000,000,000 bytes, more than"):
        load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_text_that_would_fill_the_memory_is_not_parsed(tmp_path):
    path = tmp_path / "wordy.gfsvi"
    text = b'{"__metadata__":{"gfsvi":"' + b"[" * 20_000_000 + b'"}}'
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ModelFileError, match="it claims to hold 20,000,029 bytes of text"):
        load(path)


def test_a_regressor_with_a_list_of_widths_is_loaded(regressor, tmp_path):
    estimator = GFSVIRegressor(hidden=[4])._with(regressor.fitted_)
    estimator.save(tmp_path / "model.gfsvi")
    assert load(tmp_path / "model.gfsvi").hidden == [4]


def test_absurd_numbers_bring_no_warnings(forged, saved, houses):
    fitted = persistence.read(saved)["fitted"]
    process = fitted.novelty_measure.process
    measure = dataclasses.replace(
        fitted.novelty_measure, process=dataclasses.replace(process, x=process.x * 1e200)
    )
    function = dataclasses.replace(
        fitted.posterior.function, points=fitted.posterior.function.points * 1e200
    )
    posterior = dataclasses.replace(fitted.posterior, function=function)
    estimator = forged(novelty_measure=measure, posterior=posterior)
    assert estimator.novelty(houses).shape == estimator.predict(houses).shape  # and no warning
