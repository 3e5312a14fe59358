import subprocess
import sys

import numpy as np
import pytest

from gfsvi import GFSVIRegressor, load
from gfsvi.storage import model_file as persistence
from gfsvi.storage.model_file import ModelFileError

IN_A_NEW_PROCESS = """
import sys
import jax, numpy, pandas
from gfsvi import load
# As the tests compile: other optimisations may round differently.
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)
estimator = load(sys.argv[1])
mean, std = estimator.predict(pandas.read_csv(sys.argv[2]), return_std=True)
numpy.save(sys.argv[3], numpy.stack([mean, std]))
"""


def test_a_loaded_regressor_predicts_the_same_bit_by_bit(regressor, saved, houses):
    loaded = load(saved)
    for ours, theirs in zip(
        regressor.predict(houses, return_std=True),
        loaded.predict(houses, return_std=True),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(regressor.novelty(houses), loaded.novelty(houses))
    assert loaded.preparation_ == regressor.preparation_
    assert loaded.settings_ == regressor.settings_
    assert loaded.diagnostics_ == regressor.diagnostics_


def test_a_loaded_classifier_predicts_the_same_bit_by_bit(classifier, numbers, tmp_path):
    classifier.save(tmp_path / "kinds.gfsvi")
    loaded = load(tmp_path / "kinds.gfsvi")
    np.testing.assert_array_equal(classifier.predict_proba(numbers), loaded.predict_proba(numbers))
    np.testing.assert_array_equal(classifier.predict(numbers), loaded.predict(numbers))
    for name in ("classes_", "feature_names_in_"):
        ours, theirs = getattr(classifier, name), getattr(loaded, name)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_a_new_process_predicts_the_same_bit_by_bit(regressor, saved, houses, tmp_path):
    rows, answer = tmp_path / "rows.csv", tmp_path / "answer.npy"
    houses[["age", "town", "size"]].to_csv(rows, index=False)
    command = [sys.executable, "-W", "error", "-c", IN_A_NEW_PROCESS, saved, rows, answer]
    subprocess.run(command, check=True)
    np.testing.assert_array_equal(np.load(answer), regressor.predict(houses, return_std=True))


def test_what_is_saved_again_is_the_same_file(saved, tmp_path):
    load(saved).save(tmp_path / "again.gfsvi")
    assert (tmp_path / "again.gfsvi").read_bytes() == saved.read_bytes()


def test_an_estimator_that_was_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        GFSVIRegressor().save(tmp_path / "model.gfsvi")
    assert not list(tmp_path.iterdir())


def test_a_pickle_is_never_opened(tmp_path):
    path = tmp_path / "model.gfsvi"
    path.write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(ModelFileError, match="is a pickle and is never opened"):
        load(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="missing.gfsvi cannot be read"):
        load(tmp_path / "missing.gfsvi")


@pytest.mark.parametrize("content", [{"a": 1}, {"estimator": "GFSVIRegressor"}, {"estimator": 3}])
def test_a_model_file_without_an_estimator_is_told_apart(tmp_path, content):
    persistence.write(tmp_path / "other.gfsvi", content)
    with pytest.raises(ModelFileError, match="expected a fitted model"):
        load(tmp_path / "other.gfsvi")


@pytest.mark.parametrize("parameters", [{"colour": "red"}, {"watch": None}, 3, ["kernel"]])
def test_parameters_that_no_estimator_has_are_refused(saved, tmp_path, parameters):
    content = persistence.read(saved)
    persistence.write(tmp_path / "forged.gfsvi", content | {"parameters": parameters})
    with pytest.raises(ModelFileError, match="expected .*; got"):
        load(tmp_path / "forged.gfsvi")


def test_a_fit_that_is_saved_by_itself_is_loaded_as_an_estimator(regressor, houses, tmp_path):
    regressor.fitted_.save(tmp_path / "fit.gfsvi")
    loaded = load(tmp_path / "fit.gfsvi")
    assert type(loaded) is GFSVIRegressor
    np.testing.assert_array_equal(loaded.predict(houses), regressor.predict(houses))


def test_a_truncated_model_is_damaged(saved, tmp_path):
    path = tmp_path / "half.gfsvi"
    path.write_bytes(saved.read_bytes()[: saved.stat().st_size // 2])
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)
