"""One thread of linear algebra, for as long as anyone wants one."""

import contextlib

import pytest
import scipy.linalg  # noqa: F401  (has a library of linear algebra of its own)
from threadpoolctl import ThreadpoolController, threadpool_limits

from gfsvi.numerics.threads import MANY_ROWS, limit_threads, one_thread


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


def test_an_error_restores_the_number_of_threads():
    with pytest.raises(ValueError, match="of the work"), one_thread():
        raise ValueError("of the work")
    assert counts() == {2}
