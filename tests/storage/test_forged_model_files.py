"""Forged files, whose checksum fits: refused in one sentence, and nothing in them is run."""

import sys
from pathlib import Path

import numpy as np
import pytest

from gfsvi.storage.model_file import read, write

from .forging import changed, refused


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.gfsvi"


RBF = "kernel:rbf"
NUMBER = {"array": 0, "dtype": "float64"}
WHITE = {"object": "kernel:white", "fields": {"variance": 1.0}}
NOT_A_CLASS = "is not a class this version can load. It was written by gfsvi"
FORGED = {
    "stranger": ({"object": "os.system", "fields": {}}, NOT_A_CLASS),
    "old_name": ({"object": "gfsvi.kernels.rbf.RBF", "fields": {}}, NOT_A_CLASS),
    "unknown_class": ({"object": "kernel:antigravity", "fields": {}}, NOT_A_CLASS),
    "unknown_kind": ({"object": "command:rbf", "fields": {}}, NOT_A_CLASS),
    "kind_alone": ({"object": "kernel", "fields": {}}, NOT_A_CLASS),
    "long": ({"object": "x" * 10_000, "fields": {}}, NOT_A_CLASS),
    "number": ({"object": 1, "fields": {}}, "malformed|" + NOT_A_CLASS),
    "list": ({"object": [], "fields": {}}, "malformed"),
    "unknown_class_inside": (
        {"object": "model:model", "fields": {"function": {"object": "kernel:x", "fields": {}}}},
        "holds 'kernel:x'",
    ),
    "missing_field": (
        {"object": RBF, "fields": {"variance": NUMBER}},
        "RBF expects the fields lengthscale, variance; got variance.*written by gfsvi",
    ),
    "extra_field": (
        {"object": RBF, "fields": {"variance": NUMBER, "lengthscale": NUMBER, "__class__": 1}},
        "RBF expects the fields",
    ),
    "no_fields": ({"object": RBF}, "malformed"),
    "fields_without_names": ({"object": RBF, "fields": [NUMBER, NUMBER]}, "malformed"),
    "check": (
        {"object": "kernel:active_dimensions", "fields": {"kernel": WHITE, "dimensions": [-1]}},
        "expects their numbers, counted from 0",
    ),
    "check_of_an_ancestor": (
        {"object": RBF, "fields": {"variance": -1.0, "lengthscale": 1.0}},
        "RBF expects a positive, finite variance",
    ),
    "old_node": ({"class": "gfsvi.kernels.rbf.RBF", "fields": {}}, "holds the class"),
    "activation": ({"function": "system"}, "holds the function 'system'"),
    "unknown_tag": ({"complex": [1, 2]}, "malformed|holds the complex"),
    "no_tag": ({}, "damaged"),
    "no_such_array": ({"array": 99, "dtype": "float64"}, "malformed"),
    "no_such_dtype": ({"array": 0, "dtype": "object"}, "malformed"),
    "key": ({"key": "mine", "data": NUMBER}, "holds the key"),
    "key_data": ({"key": "rbg", "data": NUMBER}, "malformed|cannot be read"),
    "unhashable": ({"dict": [[[1], 2]]}, "malformed"),
    "duplicate_entry": ({"dict": [["a", 1], ["a", 2]]}, "malformed"),
}
OLD_RBF = "gfsvi.kernels.rbf.RBF"
OLD_TRAINING = {
    **{"num_steps": 5, "stretch": 1.0, "batch_size": 10, "learning_rate": 0.1, "optimizer": None},
    **{"all_at_once": 0, "quasi_newton": False, "slow": None, "evaluate_every": 5, "patience": 2},
    **{"watch": None, "checkpoint": None},
}


def _training(**changes: object) -> dict[str, object]:
    return {"class": "gfsvi.training.Training", "fields": OLD_TRAINING | changes}


def _exact_gp(**changes: object) -> dict[str, object]:
    fields = {"num_starts": 0, "fixed": None, "calibrate": 0.0} | changes
    return {"class": "gfsvi.methods.exact_gp.ExactGP", "fields": fields}


FORGED_IN_FORMAT_1 = {
    "stranger": ({"class": "os.system", "fields": {}}, NOT_A_CLASS),
    "other_module": ({"class": "gfsvi.cli.main", "fields": {}}, NOT_A_CLASS),
    "imported": ({"class": "gfsvi.kernels.rbf.AbstractKernel", "fields": {}}, NOT_A_CLASS),
    "abstract": ({"class": "gfsvi.kernel.AbstractKernel", "fields": {}}, NOT_A_CLASS),
    "function": ({"class": "gfsvi.kernel.as_rows", "fields": {}}, NOT_A_CLASS),
    "not_a_dataclass": ({"class": "gfsvi.training.Progress", "fields": {}}, NOT_A_CLASS),
    "dotted": ({"class": "gfsvi.kernels.rbf.jnp.array", "fields": {}}, NOT_A_CLASS),
    "relative": ({"class": ".rbf.RBF", "fields": {}}, NOT_A_CLASS),
    "another_package": ({"class": "kernels.rbf.RBF", "fields": {}}, NOT_A_CLASS),
    "tag": ({"class": RBF, "fields": {}}, NOT_A_CLASS),
    "private": ({"class": "gfsvi.training._Run", "fields": {}}, NOT_A_CLASS),
    "number": ({"class": 1, "fields": {}}, "malformed"),
    "list": ({"class": [], "fields": {}}, "malformed"),
    "missing_field": ({"class": OLD_RBF, "fields": {"variance": NUMBER}}, "RBF expects the fields"),
    "no_fields": ({"class": OLD_RBF}, "malformed"),
    "new_node": ({"object": RBF, "fields": {}}, "holds the object"),
    "training_without_fields": ({"class": "gfsvi.training.Training", "fields": {}}, "malformed"),
    "training_with_an_array": (_training(all_at_once=NUMBER), "malformed"),
    "training_with_an_optimizer": (_training(optimizer="adam"), NOT_A_CLASS),
    "training_with_more": (_training(speed=1), "Training expects the fields.*speed"),
    "calibration_with_an_array": (_exact_gp(calibrate=NUMBER), "malformed"),
    "method_with_more": (_exact_gp(extra=1), "ExactGP expects the fields.*extra"),
}


def _forged(path: Path, node: object, **changes) -> bytes:
    """A file whose checksum fits and whose content is this node, with one array."""
    write(path, {"numbers": np.ones(2)})
    return changed(path.read_bytes(), content={"dict": [["v", node]]}, **changes)


@pytest.mark.parametrize("name", FORGED)
def test_forged_content_runs_nothing(path, name):
    node, match = FORGED[name]
    refused(path, _forged(path, node), match)


@pytest.mark.parametrize("node", [_training(), _exact_gp()])
def test_what_these_forgeries_are_made_of_is_read(path, node):
    path.write_bytes(_forged(path, node, format=1))
    assert type(read(path)["v"]).__name__ == str(node["class"]).rpartition(".")[-1]


@pytest.mark.parametrize("name", FORGED_IN_FORMAT_1)
def test_forged_content_of_format_1_runs_nothing(path, name):
    node, match = FORGED_IN_FORMAT_1[name]
    refused(path, _forged(path, node, format=1), match)


def test_forged_content_imports_nothing(path):
    before = set(sys.modules)
    for name in ("antigravity.Class", "gfsvi.__main__.Class", "gfsvi.kernels.../x.Class"):
        refused(path, _forged(path, {"object": name, "fields": {}}), NOT_A_CLASS)
        refused(path, _forged(path, {"class": name, "fields": {}}, format=1), NOT_A_CLASS)
    assert "antigravity" not in set(sys.modules) - before
    assert "gfsvi.__main__" not in sys.modules


def test_a_class_is_looked_up_before_its_fields_are_decoded(path):
    fields = {"inside": {"object": "kernel:second", "fields": {}}}
    refused(path, _forged(path, {"object": "kernel:first", "fields": fields}), "kernel:first")


@pytest.mark.parametrize("content", [[], {"tuple": []}, 1, None, {"array": 0, "dtype": "float64"}])
def test_content_that_is_not_a_dictionary_is_refused(path, content):
    write(path, {"numbers": np.ones(2)})
    refused(path, changed(path.read_bytes(), content=content), "content is malformed")
