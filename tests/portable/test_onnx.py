"""A fit as a graph of ONNX, evaluated by onnxruntime; `make test-peers` installs both."""

import json
import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="make test-peers installs it")
pytest.importorskip("onnxruntime", reason="make test-peers installs it")

from gfsvi import GFSVIClassifier, GFSVIRegressor  # noqa: E402
from gfsvi.auto.exporting import QUANTILES  # noqa: E402
from gfsvi.portable.onnx_graph import export_onnx  # noqa: E402

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(60, 3))
Y = np.exp(np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * (1 + X[:, 2]) * RANDOM.normal(size=60))
FAR = RANDOM.uniform(-2, 2, size=(11, 3))
# Nothing of this library, nor JAX, can be imported where the graph is run.
SCRIPT = """
import json, sys
for name in ("gfsvi", "jax", "sklearn"):
    sys.modules[name] = None
import numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
names = [output.name for output in session.get_outputs()]
found = session.run(names, {"x": numpy.array(json.loads(sys.argv[2]))})
print(json.dumps({name: values.tolist() for name, values in zip(names, found)}))
"""


def run(path, x):
    command = [sys.executable, "-c", SCRIPT, str(path), json.dumps(x.tolist())]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(
    "options", [{"likelihood": "normal", "kernel": "rbf"}, {"conformal": "left_out"}, {}]
)
def test_a_graph_predicts_what_the_fit_does(tmp_path, options):
    model = GFSVIRegressor(hidden=(12, 8), random_state=0, **options).fit(X, Y)
    export_onnx(model, tmp_path / "model.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "model.onnx"))
    found, fitted = run(tmp_path / "model.onnx", FAR), model.fitted_
    predictive, (lower, upper) = fitted.predict(FAR), fitted.interval(FAR)
    expected = {
        "mean": predictive.mean,
        "std": predictive.std,
        "epistemic_std": predictive.epistemic_std,
        "lower": lower,
        "upper": upper,
        "quantiles": np.asarray(predictive.quantile(np.array(QUANTILES))).T,
    }
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5, atol=1e-5, err_msg=name)
    one = run(tmp_path / "model.onnx", FAR[:1])
    np.testing.assert_allclose(one["mean"], found["mean"][:1], rtol=1e-10)


def test_several_targets_are_columns(tmp_path):
    both = np.stack([Y, X[:, 0]], axis=1)
    model = GFSVIRegressor(hidden=(8,), kernel="rbf", random_state=0).fit(X, both)
    export_onnx(model, tmp_path / "model.onnx", quantiles=(0.5,))
    found, predictive = run(tmp_path / "model.onnx", FAR), model.fitted_.predict(FAR)
    np.testing.assert_allclose(found["mean"], predictive.mean, rtol=1e-5, atol=1e-5)
    medians = np.asarray(predictive.quantile(np.array([0.5])))[0]
    np.testing.assert_allclose(found["quantiles_2"], medians[:, 1:], rtol=1e-5, atol=1e-5)


def test_labels_are_refused(tmp_path):
    model = GFSVIClassifier(hidden=(5,), num_steps=5, random_state=0).fit(X, Y > 1)
    with pytest.raises(ValueError, match="exporting to ONNX expects numbers.*a model of labels"):
        export_onnx(model, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()
