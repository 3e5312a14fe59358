"""Processes that are threads of the test, which exchange arrays through a list."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gfsvi.numerics.threads import one_thread


class Pretended:
    """One of several processes."""

    def __init__(self, size: int, rank: int, board: list[np.ndarray], barrier: threading.Barrier):
        self.size, self.rank, self._board, self._barrier = size, rank, board, barrier

    def gathered(self, array: np.ndarray) -> np.ndarray:
        self._board[self.rank] = np.array(array)
        self._barrier.wait(60)
        found = np.stack(self._board)
        self._barrier.wait(60)
        return found


def in_processes(size: int, work: Callable[[Pretended], Any]) -> list[Any]:
    """What each process of a group returns.

    Linear algebra has one thread, as in a fit of few rows. A thread other than the main one cannot
    ask OpenBLAS for that itself, and several threads add up in another order.
    """
    board, barrier = [np.zeros(0)] * size, threading.Barrier(size)
    with one_thread(), ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda rank: work(Pretended(size, rank, board, barrier)), range(size)))
