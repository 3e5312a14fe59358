"""How to time a compiled function on a machine that others use too."""

import time
from collections.abc import Callable
from typing import Any

import jax


def interleaved_seconds(
    functions: dict[str, Callable[[], Any]], repeats: int = 15
) -> dict[str, float]:
    """The fastest of `repeats` calls of each function, taken in turns so that noise hits all.

    Each is called twice in its turn, and the second call counts: it does not pay for what the
    function before it has pushed out of the caches.
    """
    for function in functions.values():
        jax.block_until_ready(function())
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            jax.block_until_ready(function())  # caches and memory are its own again
            start = time.perf_counter()
            jax.block_until_ready(function())
            best[name] = min(best[name], time.perf_counter() - start)
    return best
