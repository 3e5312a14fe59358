"""Threads of linear algebra: one is faster than several for small matrices."""

import contextlib
import functools
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threadpoolctl

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
    """Use one thread in the libraries of linear algebra that are loaded.

    The number of threads belongs to the process: it is restored when nobody is left who wants one,
    in whichever thread and order they end.
    """
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()


class _Limit:
    """Counts those who want one thread."""

    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0
        self._limited: set[tuple[str, ...]] = set()
        self._restoring = contextlib.ExitStack()

    def begin(self) -> None:
        loaded = tuple(name for name in _WITH_LIBRARIES if name in sys.modules)
        with self._lock:
            if loaded not in self._limited:
                limit = _controller(loaded).limit(limits=1, user_api="blas")
                self._restoring.enter_context(limit)
                self._limited.add(loaded)
            self._count += 1

    def end(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._restoring.close()
                self._limited.clear()


_LIMIT = _Limit()


_WITH_LIBRARIES = ("numpy", "scipy.linalg", "sklearn", "torch")
"""Modules that come with a library of linear algebra of their own."""


@functools.cache
def _controller(loaded: tuple[str, ...]) -> "threadpoolctl.ThreadpoolController":
    # Looking for libraries takes longer than predicting a row: once for each set of modules.
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()
