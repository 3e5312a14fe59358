"""Threads of scikit-learn's trees."""

import contextlib
from collections.abc import Iterator

from gfsvi.numerics.threads import MANY_ROWS


@contextlib.contextmanager
def one_thread_of_trees(num_rows: int) -> Iterator[None]:
    """Let boosted trees use one thread for a table of this size, if it is small.

    Their threads, which OpenMP makes, wait actively for each other, a thousand times per tree.
    Beside other work on two cores, 100 trees of 5,000 rows took 795 s with two threads and 0.5 s
    with one.
    """
    if num_rows >= MANY_ROWS:
        yield
        return
    import sklearn.ensemble  # noqa: F401  (loads OpenMP)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="openmp"):
        yield
