"""What a rehearsal relies on: of threads that want the same program, one compiles it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

compilations: list[str] = []


@jax.monitoring.register_event_duration_secs_listener
def _remember(event: str, seconds: float, **details: object) -> None:
    if event.endswith("backend_compile_duration"):
        compilations.append(event)


def number_compiled(function, *calls):
    """How many programs four threads compile that make these calls at once, and what they get."""
    all_here = threading.Barrier(len(calls), timeout=30)

    def call(arguments):
        all_here.wait()
        return function(*arguments)

    before = len(compilations)
    with ThreadPoolExecutor(len(calls)) as pool:
        results = list(pool.map(call, calls))
    return len(compilations) - before, results


def long_sum(x, how):
    """Takes long enough to compile for all threads to want it meanwhile."""
    for power in range(1, 60):
        x = how(x) * power
    return x


def test_threads_that_want_the_same_program_compile_it_once():
    x = np.linspace(0, 0.1, 3)
    count, results = number_compiled(eqx.filter_jit(long_sum), *[(x, jnp.sin)] * 4)
    assert count == 1
    for result in results:
        np.testing.assert_array_equal(result, results[0])
