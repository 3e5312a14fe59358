"""What is kept of a posterior while it learns rows is that of this posterior."""

import dataclasses

import numpy as np

from gfsvi import Data, GFSVIRegressor, condition_on

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 2))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=40)


def fit(seed):
    model = GFSVIRegressor(hidden=(8,), kernel="rbf", likelihood="normal", random_state=seed)
    return model.fit(X, Y).posterior_


def test_posteriors_do_not_share_what_is_kept():
    one, other = fit(0), fit(1)
    before = one.function.in_numpy.marginals(X)
    assert not np.allclose(other.function.in_numpy.marginals(X)[0], before[0], atol=1e-9)
    for kept, found in zip(before, one.function.in_numpy.marginals(X), strict=True):
        np.testing.assert_array_equal(kept, found)


def test_other_points_are_seen_and_rows_keep_them():
    model = fit(0)
    learned = condition_on(model, Data(X[:3], Y[:3]))
    assert learned.function.in_numpy.at_points is model.function.in_numpy.at_points
    moved = dataclasses.replace(model.function, points=np.asarray(model.function.points) + 0.1)
    alone = dataclasses.replace(moved.in_numpy, at_points=None)
    np.testing.assert_array_equal(moved.in_numpy.marginals(X)[0], alone.marginals(X)[0])
    assert not np.allclose(moved.in_numpy.marginals(X)[0], model.function.in_numpy.marginals(X)[0])
