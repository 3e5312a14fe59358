"""No row is predicted by a regressor that has seen it."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

from gfsvi.prior_means import cross_fitted, default_trees
from gfsvi.prior_means.folds import folds_of

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=60)


class Remembering(RegressorMixin, BaseEstimator):
    """Knows the target of every row that it has seen, and nothing else."""

    def fit(self, x, y, sample_weight=None):
        self.known_ = {
            row.tobytes(): (value, w)
            for row, value, w in zip(
                x, y, np.ones(len(y)) if sample_weight is None else sample_weight, strict=True
            )
        }
        return self

    def predict(self, x):
        return np.array([self.known_.get(row.tobytes(), (0.0, 0.0))[0] for row in x])


def test_no_row_is_predicted_by_a_regressor_that_has_seen_it():
    found = cross_fitted([Remembering()], X, Y, seed=0)
    assert np.all(found.values == 0)
    np.testing.assert_allclose(found.mean.in_numpy(X.astype(np.float32))[0], Y)


def test_copies_of_a_row_are_in_the_same_fold():
    found = cross_fitted([Remembering()], np.tile(X, (2, 1)), np.tile(Y, 2), seed=0)
    assert np.all(found.values == 0)


def test_predictions_are_those_of_regressors_without_the_fold():
    folds = folds_of(X.astype(np.float32), seed=3)
    found = cross_fitted([LinearRegression()], X, Y, seed=3)
    for fold in range(5):
        rest = LinearRegression().fit(X[folds != fold], Y[folds != fold])
        np.testing.assert_allclose(
            found.values[folds == fold], rest.predict(X[folds == fold]), atol=1e-5
        )


def test_folds_have_about_as_many_rows():
    counts = np.bincount(folds_of(X, seed=0))
    assert len(counts) == 5 and counts.min() == counts.max() == 12


def test_weights_reach_the_regressors():
    weights = RNG.uniform(1, 3, size=60)
    found = cross_fitted([LinearRegression()], X, Y, weights, seed=0)
    expected = LinearRegression().fit(X, Y, sample_weight=weights).predict(X)
    np.testing.assert_allclose(found.mean.in_numpy(X)[0], expected, atol=1e-5)


def test_nothing_is_returned_when_the_time_is_over():
    assert cross_fitted([LinearRegression()], X, Y, seed=0, is_over=lambda: True) is None


def test_default_trees_learn_a_function_with_jumps():
    x = RNG.uniform(size=(300, 2))
    y = np.where(x[:, 0] > 0.5, 1.0, 0.0) + 0.3 * (x[:, 1] > 0.3)
    found = cross_fitted(default_trees(x.shape, seed=0), x, y, seed=0)
    assert np.mean((found.values - y) ** 2) < 0.05 * np.var(y)
