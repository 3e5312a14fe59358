"""Threads of linear algebra: one is faster than several for small matrices."""

import contextlib
from collections.abc import Iterator

MANY_ROWS = 20_000


@contextlib.contextmanager
def limit_threads(num_rows: int) -> Iterator[None]:
    """Use one thread for factorisations while fitting a table of this size, if it is small.

    With a thousand points threads spend more time waiting than working. The previous setting is
    restored afterwards.
    """
    if num_rows >= MANY_ROWS:
        yield
        return
    import scipy.linalg  # noqa: F401  (loads the library whose threads are limited)

    with one_thread():
        yield


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread in the libraries of linear algebra that are loaded."""
    import threadpoolctl

    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        yield
