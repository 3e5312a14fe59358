"""Importing the library: what it leaves alone, and where its parts are found."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import gfsvi

SCRIPT = """
import jax
before = dict(jax.config.values)
import gfsvi, gfsvi.methods, gfsvi.kernels, gfsvi.networks, gfsvi.likelihoods, gfsvi.metrics
after = dict(jax.config.values)
changed = {name for name in before if before[name] != after[name]}
print(sorted(changed))
"""


def test_importing_changes_no_jax_setting():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_listed_and_found():
    for name in gfsvi._HOMES:
        assert name in dir(gfsvi)
        assert getattr(gfsvi, name).__doc__
    for room in gfsvi._ROOMS:
        assert room in dir(gfsvi)
        assert getattr(gfsvi, room) is importlib.import_module(f"gfsvi.{room}")
    assert {"BayesianRegressor", "Data", "Model", "Training", "load", "kernels"} < set(dir(gfsvi))


def test_type_checkers_are_told_of_every_public_name():
    tree = ast.parse(Path(gfsvi.__file__).read_text())
    imported = {a.asname for node in ast.walk(tree) for a in getattr(node, "names", ())} - {None}
    assert imported == {*gfsvi._HOMES, "__version__"}


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'gfsvi' has no attribute 'Modle'"):
        _ = gfsvi.Modle


def test_importing_the_library_imports_nothing_heavy():
    script = "import sys, gfsvi; print({'jax', 'sklearn', 'numpy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


PUBLIC = {
    "gfsvi.bench.data": ("AbstractDataset", "Download", "Layout", "Packaged"),
    "gfsvi.covariances": ("AbstractCovariance",),
    "gfsvi.functions": ("AbstractMean", "AbstractRandomFunction", "ConjugateNetwork"),
    "gfsvi.kernels": (
        *("AbstractKernel", "AbstractStationaryKernel"),
        *("ActiveDimensions", "Product", "Scaled", "Shifted", "Sum"),
    ),
    "gfsvi.likelihoods": (
        *("AbstractLikelihood", "AbstractLabelLikelihood", "AbstractNoisyLikelihood"),
        *("AbstractRealLikelihood", "GaussianTargets"),
    ),
    "gfsvi.methods": ("AbstractMethod", "AbstractVariational", "Subsampling"),
    "gfsvi.networks": ("AbstractLayeredNetwork", "AbstractNetwork"),
    "gfsvi.predictives": ("AbstractPredictive", "AbstractRealPredictive"),
}


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package in PUBLIC for name in PUBLIC[package]]
)
def test_a_package_exports_what_new_classes_are_built_from(package, name):
    found = getattr(importlib.import_module(package), name)
    assert found.__doc__
    assert found.__module__.startswith(package)
