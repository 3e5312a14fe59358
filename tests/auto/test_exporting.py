"""Programs that predict what a fit predicts, where this library is not installed."""

import subprocess
import sys

import jax
import numpy as np
import pytest

import gfsvi
from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.cli import main

pytest.importorskip("flatbuffers")
TINY = {"kernel": "rbf", "hidden": (8,), "random_state": 0}
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 2))
Y = np.exp(X[:, 0] + 0.1 * RANDOM.normal(size=60))
QUANTILES = (0.1, 0.5, 0.9)

ALONE = """
import sys
sys.modules["gfsvi"] = sys.modules["equinox"] = None  # as if they were not installed
import jax
import numpy as np
jax.config.update("jax_enable_x64", True)
program = jax.export.deserialize(open(sys.argv[1], "rb").read())
found = program.call(np.load(sys.argv[2]))
np.savez(sys.argv[3], **found)
"""


def called_alone(path, x, folder):
    np.save(folder / "x.npy", x)
    command = [sys.executable, "-c", ALONE, str(path), str(folder / "x.npy"), str(folder / "y.npz")]
    subprocess.run(command, check=True, timeout=300)
    with np.load(folder / "y.npz") as file:
        return dict(file)


def test_numbers_are_predicted_by_jax_alone(tmp_path):
    model = GFSVIRegressor(conformal="left_out", **TINY).fit(X, Y)
    gfsvi.export(model, tmp_path / "model.jax", quantiles=QUANTILES)
    found = called_alone(tmp_path / "model.jax", X[:7], tmp_path)
    predictive = model.predict_distribution(X[:7])
    lower, upper = model.predict_interval(X[:7])
    expected = {"mean": predictive.mean, "std": predictive.std, "lower": lower, "upper": upper}
    expected |= {"quantiles": predictive.quantile(np.array(QUANTILES))}
    expected |= {"epistemic_std": predictive.epistemic_std}
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-6)


def test_several_targets_and_labels(tmp_path):
    targets = np.stack([Y, X[:, 1]], axis=1)
    several = GFSVIRegressor(likelihood="normal", **TINY).fit(X, targets)
    labels = GFSVIClassifier(**TINY).fit(X, np.where(Y > 1, "many", "few"))
    for name, model in (("several", several), ("labels", labels)):
        gfsvi.export(model, tmp_path / name)
    with jax.enable_x64(True):
        found, probabilities = (
            jax.export.deserialize((tmp_path / name).read_bytes()).call(X[:9])
            for name in ("several", "labels")
        )
    predictive = several.predict_distribution(X[:9])
    np.testing.assert_allclose(found["mean"], predictive.mean, atol=1e-6)
    np.testing.assert_allclose(found["lower"], several.predict_interval(X[:9])[0], atol=1e-6)
    assert found["quantiles"].shape == (5, 9, 2)
    # Means over other draws of the function.
    np.testing.assert_allclose(
        probabilities["probabilities"], labels.predict_proba(X[:9]), atol=0.02
    )


def test_the_command_names_the_inputs(tmp_path, capsys):
    model = GFSVIRegressor(**TINY).fit(X, Y)
    model.save(tmp_path / "model.gfsvi")
    assert main(["export", str(tmp_path / "model.gfsvi"), "-o", str(tmp_path / "model.jax")]) == 0
    assert "inputs: x1, x2" in capsys.readouterr().out
    assert (tmp_path / "model.jax").stat().st_size > 1000
