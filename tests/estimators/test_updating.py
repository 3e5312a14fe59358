"""`partial_fit` and `forget` of estimators."""

import warnings

import numpy as np
import pytest

import gfsvi
from gfsvi import BayesianRegressor, GFSVIClassifier, GFSVIRegressor, RetrainWarning

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 2))
Y = X[:, 0] ** 2 + 0.1 * RANDOM.normal(size=120)


@pytest.fixture
def fitted(tiny):
    return GFSVIRegressor(**tiny).fit(X[:80], Y[:80])


def test_the_first_call_fits(tiny, fitted):
    first = GFSVIRegressor(**tiny).partial_fit(X[:80], Y[:80])
    np.testing.assert_array_equal(first.predict(X), fitted.predict(X))
    assert first.updates_ is None and not first.needs_retraining_


def test_rows_are_learned_and_forgotten(fitted):
    before = fitted.predict(X[80:], return_std=True)
    fitted.partial_fit(X[80:], Y[80:])
    after = fitted.predict(X[80:], return_std=True)
    assert np.mean((after[0] - Y[80:]) ** 2) < np.mean((before[0] - Y[80:]) ** 2)
    assert np.all(after[1] <= before[1] + 1e-12)
    assert fitted.updates_.num_learned == 40
    fitted.forget(X[80:], Y[80:])
    assert fitted.updates_.num_forgotten == 40
    np.testing.assert_allclose(fitted.predict(X[80:], return_std=True), before, atol=1e-8)


def test_a_weight_of_zero_does_not_count_and_two_counts_twice(fitted, tiny):
    other = GFSVIRegressor(**tiny).fit(X[:80], Y[:80])
    weights = np.repeat([0.0, 2.0], 20)
    fitted.partial_fit(X[80:], Y[80:], sample_weight=weights)
    other.partial_fit(np.tile(X[100:], (2, 1)), np.tile(Y[100:], 2))
    np.testing.assert_allclose(fitted.predict(X), other.predict(X), atol=1e-8)


def test_tables_are_learned_as_tables(houses, tiny):
    table = houses.drop(columns="kind")
    regressor = GFSVIRegressor(**tiny).fit_table(table[:40], "price")
    before = np.mean((regressor.predict(table[40:]) - table["price"][40:]) ** 2)
    regressor.partial_fit(table[40:], table["price"][40:])
    assert np.mean((regressor.predict(table[40:]) - table["price"][40:]) ** 2) < before


def test_labels_are_learned_by_name(houses, numbers, tiny):
    classifier = GFSVIClassifier(**tiny).fit(numbers[:40], houses["kind"][:40])
    before = np.mean(
        classifier.predict_distribution(numbers[40:]).log_prob(
            classifier.class_numbers(houses["kind"][40:])
        )
    )
    classifier.partial_fit(numbers[40:], houses["kind"][40:])
    after = np.mean(
        classifier.predict_distribution(numbers[40:]).log_prob(
            classifier.class_numbers(houses["kind"][40:])
        )
    )
    assert after > before
    with pytest.raises(ValueError, match="palace"):
        classifier.partial_fit(numbers[:1], ["palace"])


def test_the_first_rows_must_have_every_class(numbers, houses, tiny):
    classes = ["cheap", "dear", "fair", "palace"]
    with pytest.raises(ValueError, match="labels of every class; got none of 'palace'"):
        GFSVIClassifier(**tiny).partial_fit(numbers, houses["kind"], classes=classes)


def test_rows_from_elsewhere_are_warned_about_once(fitted, tmp_path):
    with pytest.warns(RetrainWarning, match="outgrown the fit: 2. of the latest 2. rows"):
        fitted.partial_fit(X[:25] + 10, Y[:25])
    assert fitted.needs_retraining_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.partial_fit(X[:25] + 10, Y[:25])
    fitted.save(tmp_path / "updated.gfsvi")
    assert gfsvi.load(tmp_path / "updated.gfsvi").needs_retraining_


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.zeros((40, 2)), "as in the fit"),
        (["a"] * 40, "got the text 'a'"),
        (Y[:3], "inconsistent"),
    ],
)
def test_targets_that_do_not_fit_are_refused(fitted, y, words):
    with pytest.raises(ValueError, match=words):
        fitted.partial_fit(X[80:], y)


def test_other_methods_say_that_they_cannot(tiny):
    regressor = BayesianRegressor("map", **tiny).fit(X, Y)
    with pytest.raises(ValueError, match="expects a posterior in closed form"):
        regressor.partial_fit(X, Y)
