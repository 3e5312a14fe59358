"""Intervals and sets of estimators that promise their coverage."""

import numpy as np
import pytest

import gfsvi
from gfsvi import BayesianRegressor, GFSVIClassifier, GFSVIRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2, 2, size=(900, 2))
Y = np.sin(2 * X[:, 0]) + RANDOM.standard_t(2, size=900) * (0.1 + 0.2 * (X[:, 1] > 0))
TRAIN, TEST = slice(0, 300), slice(300, 900)


@pytest.fixture(scope="module", params=["split", "left_out"])
def regressor(request):
    options = {"kernel": "rbf", "hidden": (10,), "likelihood": "normal", "random_state": 0}
    return GFSVIRegressor(conformal=request.param, **options).fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_intervals_have_the_coverage_that_they_promise(regressor, level):
    lower, upper = regressor.predict_interval(X[TEST], level)
    share = np.mean((lower <= Y[TEST]) & (Y[TEST] <= upper))
    rows = len(regressor.fitted_.unseen.weights)
    error = np.sqrt(level * (1 - level) * (1 / 600 + 1 / rows))
    assert share == pytest.approx(level, abs=3 * error)


def test_heavy_tails_make_a_difference(regressor):
    """A normal distribution takes them for a large spread, so that half of it is too much."""
    own = regressor.predict_distribution(X[TEST]).interval(0.5)
    promised = regressor.predict_interval(X[TEST], 0.5)
    assert np.mean(promised[1] - promised[0]) < 0.7 * np.mean(own[1] - own[0])


def test_rows_set_aside_are_a_fifth_and_not_learned(regressor):
    rows = {"split": 60, "left_out": 300}[regressor.conformal]
    assert len(regressor.fitted_.unseen.weights) == rows
    assert regressor.settings_.num_rows == {"split": 240, "left_out": 300}[regressor.conformal]


def test_files_keep_the_promise(regressor, tmp_path):
    regressor.save(tmp_path / "model.gfsvi")
    loaded = gfsvi.load(tmp_path / "model.gfsvi")
    assert loaded.conformal == regressor.conformal
    np.testing.assert_allclose(
        loaded.predict_interval(X[:5], 0.9), regressor.predict_interval(X[:5], 0.9)
    )


def test_without_a_promise_intervals_are_the_models_own(tiny):
    regressor = GFSVIRegressor(**tiny).fit(X[:60], Y[:60])
    np.testing.assert_allclose(
        regressor.predict_interval(X[:5], 0.8),
        regressor.predict_distribution(X[:5]).interval(0.8),
    )


def test_several_targets_have_intervals_each(tiny):
    targets = np.stack([Y, 10 * X[:, 1] + RANDOM.normal(size=900)], axis=1)
    regressor = GFSVIRegressor(conformal="left_out", **tiny).fit(X[:100], targets[:100])
    lower, upper = regressor.predict_interval(X[TEST], 0.8)
    assert lower.shape == (600, 2)
    shares = np.mean((lower <= targets[TEST]) & (targets[TEST] <= upper), axis=0)
    np.testing.assert_allclose(shares, 0.8, atol=0.15)


@pytest.mark.parametrize("conformal", ["split", "left_out", "none"])
def test_sets_of_labels(conformal, tiny):
    labels = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]
    classifier = GFSVIClassifier(conformal=conformal, **tiny).fit(X[TRAIN], labels[TRAIN])
    inside = classifier.predict_set(X[TEST], 0.8)
    assert inside.shape == (600, 3) and np.all(inside.any(axis=1))
    assert np.all(
        np.take_along_axis(inside, classifier.predict_proba(X[TEST]).argmax(1)[:, None], 1)
    )
    if conformal != "none":
        assert np.mean(inside[np.arange(600), classifier.class_numbers(labels[TEST])]) > 0.72


def test_bad_levels_and_kinds_are_refused(regressor, tiny):
    with pytest.raises(ValueError, match="level between 0 and 1; got 90"):
        regressor.predict_interval(X, 90)
    with pytest.raises(ValueError, match="conformal expects 'none', 'split' or 'left_out'; got"):
        GFSVIRegressor(conformal="jackknife", **tiny).fit(X, Y)
    with pytest.raises(ValueError, match="at least 9999 rows to judge by"):
        regressor.predict_interval(X, 0.9999)


def test_methods_without_unseen_rows_say_so(tiny):
    regressor = BayesianRegressor("map", conformal="left_out", validation_fraction=0.0, **tiny)
    with pytest.raises(ValueError, match='Fit with conformal="split"'):
        regressor.fit(X[:50], Y[:50]).predict_interval(X)
