"""Every method through the estimators; a new class in `gfsvi.methods` is tested for free."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gfsvi import BayesianClassifier, BayesianRegressor, load, registry
from gfsvi.methods import Laplace

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=40)
LABELS = np.where(Y > 0, "yes", "no")
NEW = np.array([[0.1, 0.2], [8.0, 8.0]])
QUICK = ("laplace",)
NAMES = [name for name in registry.names("methods") if name != "empirical_bayes"]
METHODS = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in NAMES]


def fitted(kind: Any, name: str, y: np.ndarray) -> Any:
    estimator = kind(name, kernel="rbf", hidden=(8,), num_steps=20, random_state=0)
    try:
        return estimator.fit(X, y)
    except TypeError as refusal:  # a method for the other task
        assert "needs" in str(refusal) and "; got" in str(refusal)
        return None


@pytest.mark.parametrize("name", METHODS)
def test_a_regressor_predicts_samples_and_survives_a_file(name: str, tmp_path: Path) -> None:
    regressor = fitted(BayesianRegressor, name, Y)
    if regressor is None:
        assert name == "gp_classifier"
        return
    mean, std = regressor.predict(NEW, return_std=True)
    assert mean.shape == std.shape == (2,) and np.all(std > 0) and np.all(np.isfinite(mean))
    _, covariance = regressor.predict(NEW, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), std, rtol=1e-5)
    assert regressor.sample_y(NEW, n_samples=3).shape == (2, 3)
    novelty = regressor.novelty(NEW)
    assert np.all((novelty >= 0) & (novelty <= 1))
    regressor.save(tmp_path / "model.gfsvi")
    loaded = load(tmp_path / "model.gfsvi")
    assert type(loaded) is BayesianRegressor
    np.testing.assert_array_equal(loaded.predict(NEW), mean)
    np.testing.assert_array_equal(loaded.novelty(NEW), novelty)


@pytest.mark.parametrize("name", METHODS)
def test_a_classifier_predicts_probabilities(name: str) -> None:
    classifier = fitted(BayesianClassifier, name, LABELS)
    if classifier is None:
        assert name == "exact_gp"
        return
    probabilities = classifier.predict_proba(NEW)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert set(classifier.predict(NEW)) <= {"yes", "no"}


def test_a_method_may_be_given_with_settings_of_its_own() -> None:
    given = BayesianRegressor(Laplace(), hidden=(8,), num_steps=20, random_state=0).fit(X, Y)
    named = BayesianRegressor("laplace", hidden=(8,), num_steps=20, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(given.predict(NEW), named.predict(NEW))
    assert given.settings_.method == "Laplace"


@pytest.mark.parametrize("method", ["empirical_bayes", 3, None])
def test_what_is_no_method_for_a_posterior_is_refused_in_words(method: Any) -> None:
    with pytest.raises(ValueError, match="expects a method that learns a posterior, or its name"):
        BayesianRegressor(method).fit(X, Y)


def test_an_unknown_method_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="Did you mean 'laplace'"):
        BayesianRegressor("laplase").fit(X, Y)
