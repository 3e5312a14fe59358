"""Importing the library: what it leaves alone, and where its parts are found."""

import importlib
import subprocess
import sys

import pytest

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
    "gfsvi.methods": ("AbstractMethod", "AbstractVariational", "ClosedForm", "Subsampling"),
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
