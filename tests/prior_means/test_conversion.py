"""Regressors of scikit-learn as mean functions, held to what scikit-learn itself predicts."""

import numpy as np
import pytest
from sklearn import ensemble, linear_model, tree

from gfsvi.functions.tree_mean import TreeMean
from gfsvi.numerics.precision import double
from gfsvi.prior_means.conversion import RegressorMean, as_mean_function

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)).astype(np.float32)
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
NEW = RNG.normal(size=(50, 4)).astype(np.float32)

FORESTS = [
    tree.DecisionTreeRegressor(max_depth=4, random_state=0),
    ensemble.ExtraTreesRegressor(8, random_state=0),
    ensemble.RandomForestRegressor(8, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=12, random_state=0),
    ensemble.HistGradientBoostingRegressor(max_iter=12, random_state=0),
]


@pytest.mark.parametrize("regressor", FORESTS, ids=lambda one: type(one).__name__)
def test_trees_predict_what_scikit_learn_predicts(regressor):
    expected = regressor.fit(X, Y).predict(NEW)
    mean = as_mean_function([regressor])
    assert isinstance(mean, TreeMean)
    np.testing.assert_allclose(mean.in_numpy(NEW)[0], expected, atol=1e-6)
    np.testing.assert_allclose(np.asarray(double(mean.at)(NEW))[0], expected, atol=1e-6)


def test_several_regressors_are_averaged():
    regressors = [regressor.fit(X, Y) for regressor in FORESTS[:3]]
    expected = np.mean([regressor.predict(NEW) for regressor in regressors], axis=0)
    np.testing.assert_allclose(as_mean_function(regressors).in_numpy(NEW)[0], expected, atol=1e-6)


def test_rows_at_a_threshold_go_where_scikit_learn_sends_them():
    x = np.arange(8, dtype=np.float32)[:, None] / 3
    regressor = tree.DecisionTreeRegressor().fit(x, np.arange(8.0))
    near = np.sort(np.concatenate([regressor.tree_.threshold, x[:, 0]])).astype(np.float32)[:, None]
    expected = regressor.predict(near)
    np.testing.assert_array_equal(as_mean_function([regressor]).in_numpy(near)[0], expected)


def test_other_regressors_are_kept_as_they_are():
    regressor = linear_model.LinearRegression().fit(X, Y)
    mean = as_mean_function([regressor])
    assert isinstance(mean, RegressorMean)
    np.testing.assert_allclose(mean.in_numpy(NEW)[0], regressor.predict(NEW))
    with pytest.raises(ValueError, match="LinearRegression"):
        mean.at(NEW)


def test_trees_of_a_damaged_file_are_refused():
    trees = as_mean_function([FORESTS[0].fit(X, Y)]).trees
    trees.check(4)
    for field, value in (
        ("feature", np.full_like(trees.feature, 4)),
        ("left", np.full_like(trees.left, 10**6)),
        ("right", trees.right - 10**6),
        ("roots", np.array([-1])),
        ("depth", 10**9),
        ("value", np.full_like(trees.value, np.nan)),
        ("value", trees.value[:1]),
    ):
        with pytest.raises(ValueError, match="trees"):
            trees._replace(**{field: value}).check(4)
