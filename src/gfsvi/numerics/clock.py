"""A limit of time, and how much can be computed within it."""

import functools
import math
import time

import numpy as np

SIZE, NUM_TRIALS = 300, 7
"""Of matrices whose product is timed, a few milliseconds each."""


class Clock:
    """Counts down from now; the stages of a fit ask it whether they have to end.

    Args:
        seconds: How long; None for no limit.
    """

    def __init__(self, seconds: float | None = None):
        self.seconds = seconds
        self._began = time.monotonic()

    @property
    def spent(self) -> float:
        """The seconds that have passed."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """The seconds that are left: infinity without a limit, never negative."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.spent)

    def leaving(self, seconds: float) -> "Clock":
        """A clock for what must end so many seconds before this one."""
        return Clock(None if self.seconds is None else self.left - seconds)

    def is_over(self, reserved: float = 0.0) -> bool:
        """Whether no more is left than what later stages need."""
        return self.left <= reserved


def operations_per_second() -> float:
    """Multiplications and additions in a product of matrices, on this machine as busy as it is."""
    matrix = _matrix()
    seconds = []
    for _ in range(NUM_TRIALS):
        began = time.perf_counter()
        np.matmul(matrix, matrix)
        seconds.append(time.perf_counter() - began)
    return 2 * SIZE**3 / max(float(np.median(seconds)), 1e-9)


@functools.cache
def _matrix() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(SIZE, SIZE))
