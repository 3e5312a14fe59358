"""A fit as a model of MLflow; `make test-peers` installs it."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import numpy as np
import pandas as pd
import pytest

import gfsvi
from gfsvi import GFSVIRegressor

mlflow = pytest.importorskip("mlflow")
flavour = pytest.importorskip("gfsvi.interchange.mlflow")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what MLflow calls


def test_a_saved_model_predicts_what_the_fit_does(regressor, classifier, houses, tmp_path):
    for name, model in (("numbers", regressor), ("labels", classifier)):
        flavour.save_model(model, tmp_path / name)
        loaded = mlflow.pyfunc.load_model(str(tmp_path / name))
        rows = houses.drop(columns=["price", "kind"]).iloc[5:15]
        pd.testing.assert_frame_equal(loaded.predict(rows), gfsvi.predict_table(model, rows))


def test_the_level_is_a_parameter(regressor, houses, tmp_path):
    flavour.save_model(regressor, tmp_path / "model")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    found = loaded.predict(houses, params={"level": 0.5})
    pd.testing.assert_frame_equal(found, gfsvi.predict_table(regressor, houses, level=0.5))


def test_a_logged_model_comes_back(regressor, houses, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    with mlflow.start_run():
        logged = flavour.log_model(regressor, "houses")
    found = mlflow.pyfunc.load_model(logged.model_uri).predict(houses)
    np.testing.assert_array_equal(found["mean"], gfsvi.predict_table(regressor, houses)["mean"])


def test_the_folder_has_no_pickles_and_the_fit_comes_back(regressor, houses, tmp_path):
    flavour.save_model(regressor, tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"MLmodel", "model.gfsvi", "python_env.yaml", "requirements.txt"}
    again = flavour.load_model(tmp_path / "model")
    expected = regressor.fitted_.predict(houses).mean
    np.testing.assert_allclose(again.predict(houses).mean, expected, rtol=1e-12)


def test_what_cannot_be_saved_is_refused_in_words(regressor, tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ValueError, match="empty or missing"):
        flavour.save_model(regressor, tmp_path)
    with pytest.raises(ValueError, match="knows the columns of a table"):
        flavour.save_model(GFSVIRegressor(), tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
