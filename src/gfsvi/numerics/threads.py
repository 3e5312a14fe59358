"""Threads of linear algebra: for small matrices one is faster than several."""

import contextlib
from collections.abc import Iterator

MANY_ROWS = 20_000


@contextlib.contextmanager
def limit_threads(num_rows: int) -> Iterator[None]:
    """One thread for factorisations while a table of this size is learned from.

    Those of a thousand points are so small that threads wait for each other longer than they
    work. What was set before is set again afterwards.
    """
    if num_rows >= MANY_ROWS:
        yield
        return
    import scipy.linalg  # noqa: F401  (loads the library whose threads are meant)
    import threadpoolctl

    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        yield
