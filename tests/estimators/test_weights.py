"""A row of weight two counts like the same row twice, and a row of weight zero not at all."""

import numpy as np
import pandas as pd
import pytest

from gfsvi import BayesianClassifier, BayesianRegressor, GFSVIClassifier, GFSVIRegressor
from gfsvi.auto.solving import Solver
from gfsvi.kernels import RBF

from .stand_in import solve

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 2))
Y = np.sin(X[:, 0]) + 0.2 * RANDOM.normal(size=40)
Y[:30] = np.round(Y[:30], 1)
SKEWED = np.exp(np.sin(X[:, 0]) + 0.2 * RANDOM.normal(size=40))
LABELS = np.where(Y > 0.3, "high", "low")
# Of sum 40, so that repeated rows are as many as rows, and need no programs of their own.
WEIGHTS = RANDOM.permutation(np.repeat([0, 1, 2, 3], [14, 14, 10, 2]))
REPEATED = np.repeat(np.arange(40), WEIGHTS)
NEW = RANDOM.normal(size=(20, 2))


def exact() -> BayesianRegressor:
    return BayesianRegressor("exact_gp", kernel=RBF(1.0), random_state=0, validation_fraction=0.0)


@pytest.fixture(scope="module")
def unweighted() -> BayesianRegressor:
    return exact().fit(X, Y)


def moments(regressor: BayesianRegressor) -> np.ndarray:
    mean, std = regressor.predict(NEW, return_std=True)
    return np.stack([mean, std])


@pytest.mark.parametrize(
    ("y", "likelihood"), [(Y, "Normal"), (SKEWED, "WarpedNormal")], ids=["normal", "warped"]
)
def test_a_fit_to_weighted_rows_is_that_to_repeated_rows(y, likelihood):
    weighted = exact().fit(X, y, sample_weight=WEIGHTS)
    repeated = exact().fit(X[REPEATED], y[REPEATED])
    assert type(weighted.posterior_.likelihood).__name__ == likelihood
    np.testing.assert_allclose(moments(weighted), moments(repeated), rtol=1e-5)
    np.testing.assert_allclose(weighted.novelty(NEW), repeated.novelty(NEW), rtol=1e-4, atol=1e-8)
    assert np.max(np.abs(moments(weighted) - moments(exact().fit(X, y)))) > 1e-2


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    weights = np.where(WEIGHTS > 0, 1.0, 0.0)
    kept = weights > 0
    y = np.where(kept, Y, 1e6)
    weighted, removed = exact().fit(X, y, sample_weight=weights), exact().fit(X[kept], Y[kept])
    np.testing.assert_allclose(moments(weighted), moments(removed), rtol=1e-5)


def test_equal_weights_change_nothing(unweighted):
    weighted = exact().fit(X, Y, sample_weight=np.ones(40))
    np.testing.assert_allclose(moments(weighted), moments(unweighted), rtol=1e-5)


def test_a_classifier_counts_rows_by_their_weights():
    def fitted(*rows, **weights):
        method = BayesianClassifier("gp_classifier", kernel=RBF(1.0), random_state=0)
        return method.fit(*rows, **weights).predict_proba(NEW)

    heavy = np.where(LABELS == "high", 20.0, 1.0)
    usual, weighted = fitted(X, LABELS), fitted(X, LABELS, sample_weight=heavy)
    assert np.mean(weighted[:, 0] - usual[:, 0]) > 0.02


def test_gfsvi_leans_towards_rows_that_weigh_more(tiny):
    x = np.repeat(np.linspace(-1, 1, 30), 2)[:, None]
    y = np.tile([-1.0, 1.0], 30) + 0.01 * RANDOM.normal(size=60)
    weights = np.where(y > 0, 9.0, 1.0)
    usual = GFSVIRegressor(**tiny).fit(x, y).predict(x)
    weighted = GFSVIRegressor(**tiny).fit(x, y, sample_weight=weights).predict(x)
    # The mean of the rows is 0, and 0.8 with their weights.
    assert abs(np.mean(usual)) < 0.2 and np.mean(weighted) == pytest.approx(0.8, abs=0.2)


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setattr(Solver, "solve", solve)


def test_a_table_has_weights_too(stand_in, houses, tiny):
    known = houses["price"].where(houses.index != 5)  # whose weight goes with it
    frame = houses.drop(columns="kind").assign(price=known)
    weights = 1.0 + np.arange(len(frame)) % 3
    weighted = GFSVIRegressor(**tiny).fit_table(frame, "price", sample_weight=weights)
    rows = np.repeat(np.arange(len(frame)), weights.astype(int))
    repeated = GFSVIRegressor(**tiny).fit_table(frame.iloc[rows], "price")
    np.testing.assert_allclose(weighted.predict(houses), repeated.predict(houses), rtol=1e-6)


def test_held_out_rows_are_numbered_as_the_user_has_them(stand_in, tiny):
    weights = np.ones(40)
    weights[:20] = 0.0
    regressor = GFSVIRegressor(**tiny, validation_fraction=0.1)
    held_out = regressor.fit(X, Y, sample_weight=weights).fitted_.validation_rows
    assert len(held_out) == 2 and np.all(held_out >= 20)


@pytest.mark.parametrize(
    ("weights", "about"),
    [
        (np.zeros(40), "zero"),
        (-np.ones(40), "[Nn]egative"),
        (np.ones(39), "sample_weight.shape"),
        (np.full(40, np.nan), "NaN"),
    ],
)
@pytest.mark.parametrize("kind", [GFSVIRegressor, GFSVIClassifier])
def test_weights_that_make_no_sense_are_refused(kind, weights, about, tiny):
    y = Y if kind is GFSVIRegressor else LABELS
    with pytest.raises(ValueError, match=about):
        kind(**tiny).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("weights", [np.ones(3), -np.ones(60), np.full(60, np.nan), np.eye(60)[0]])
def test_weights_of_a_table_that_make_no_sense_are_refused(weights, houses, tiny):
    with pytest.raises(ValueError, match="expected .*weight"):
        GFSVIRegressor(**tiny).fit_table(pd.DataFrame(houses), "price", sample_weight=weights)
