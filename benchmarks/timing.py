"""Timing of compiled functions on a machine with other load."""

import time
from collections.abc import Callable
from typing import Any

import jax


def interleaved_seconds(
    functions: dict[str, Callable[[], Any]], repeats: int = 15
) -> dict[str, float]:
    """The fastest of `repeats` calls of each function, taken in turns so that load affects all.

    Each function is called twice per turn and the second call is timed, because the first pays for
    what the previous function evicted from the caches.
    """
    for function in functions.values():
        jax.block_until_ready(function())
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            jax.block_until_ready(function())  # fills the caches
            start = time.perf_counter()
            jax.block_until_ready(function())
            best[name] = min(best[name], time.perf_counter() - start)
    return best
