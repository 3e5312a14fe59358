"""Work on several cores of one process, in threads: NumPy lets others run while it computes."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

from gfsvi.numerics.threads import one_thread

T = TypeVar("T")
R = TypeVar("R")
MAX_AHEAD = 2
"""Items that are read before they are needed."""


def num_threads() -> int:
    """OMP_NUM_THREADS if it is set, otherwise the cores that this process may use."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """A pool of threads, each of which uses one core for linear algebra."""

    def __init__(self, count: int | None = None):
        self._pool = ThreadPoolExecutor(num_threads() if count is None else count)

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """The results in the order of the items."""
        items = list(items)
        if len(items) < 2:
            return [function(item) for item in items]
        with one_thread():
            return list(self._pool.map(function, items))


def read_ahead(items: Iterable[T], most: int = MAX_AHEAD) -> Iterator[T]:
    """The same items, read by a thread that is up to `most` of them ahead."""
    queue: Queue[tuple[str, Any]] = Queue(most)
    abandoned = Event()

    def put(kind: str, item: object) -> bool:
        while not abandoned.is_set():
            try:
                queue.put((kind, item), timeout=0.1)
                return True
            except Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not put("item", item):
                    return
            put("end", None)
        except BaseException as error:
            put("error", error)

    thread = Thread(target=read, daemon=True)
    thread.start()
    try:
        while True:
            try:
                kind, item = queue.get(timeout=1.0)
            except Empty:
                continue
            if kind == "error":
                raise item
            if kind == "end":
                return
            yield item
    finally:
        abandoned.set()
        thread.join(timeout=5.0)
