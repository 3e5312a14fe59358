"""One thread of linear algebra, for as long as anyone wants one."""

import contextlib

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (has a library of linear algebra of its own)
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import ThreadpoolController, threadpool_limits

from gfsvi.numerics.threads import MANY_ROWS, limit_threads, one_thread
from gfsvi.prior_means.classifiers import cross_fitted_scores
from gfsvi.prior_means.cross_fitting import cross_fitted
from gfsvi.prior_means.threads import one_thread_of_trees


def counts() -> set[int]:
    """Threads of the libraries of linear algebra."""
    return {one["num_threads"] for one in ThreadpoolController().select(user_api="blas").info()}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_the_number_of_threads_is_restored():
    with limit_threads(10):
        assert counts() == {1}
    assert counts() == {2}
    with limit_threads(MANY_ROWS):
        assert counts() == {2}


def test_who_ends_first_does_not_take_the_thread_of_who_still_works():
    first, second = contextlib.ExitStack(), contextlib.ExitStack()
    first.enter_context(one_thread())
    second.enter_context(one_thread())
    first.close()
    assert counts() == {1}
    second.close()
    assert counts() == {2}


def test_trees_of_small_tables_use_one_thread():
    import sklearn.ensemble  # noqa: F401  (has threads of OpenMP)

    def of_openmp():
        return {
            one["num_threads"] for one in ThreadpoolController().select(user_api="openmp").info()
        }

    with threadpool_limits(2, user_api="openmp"):
        with one_thread_of_trees(10):
            assert of_openmp() == {1}
        assert of_openmp() == {2}
        with one_thread_of_trees(MANY_ROWS):
            assert of_openmp() == {2}


@pytest.mark.parametrize("is_of_labels", [True, False])
def test_trees_of_a_fit_are_boosted_by_one_thread(is_of_labels, monkeypatch):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if is_of_labels else HistGradientBoostingRegressor
    fit, found = kind.fit, []

    def watched(self, x, y, **options):
        found.append(_openmp_effective_n_threads())
        return fit(self, x, y, **options)

    monkeypatch.setattr(kind, "fit", watched)
    x = np.random.default_rng(0).normal(size=(60, 2))
    with threadpool_limits(2, user_api="openmp"):
        if is_of_labels:
            cross_fitted_scores(x, np.arange(60) % 2, 2, seed=0)
        else:
            cross_fitted([kind(max_iter=2)], x, x[:, 0], seed=0)
    assert len(found) > 2 and set(found) == {1}


def test_an_error_restores_the_number_of_threads():
    with pytest.raises(ValueError, match="of the work"), one_thread():
        raise ValueError("of the work")
    assert counts() == {2}
