"""Double precision where it matters, without changing global settings."""

import functools
import os
from collections.abc import Callable
from types import ModuleType
from typing import ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


_processes: list[int] = []
"""The process that has computed something; a fork inherits it."""


def check_process() -> None:
    """Raise in a fork of a process that has used JAX, where JAX would wait for ever."""
    if not _processes:
        _processes.append(os.getpid())
    if _processes[0] != os.getpid():
        raise RuntimeError(
            "expected a process that was not forked after JAX had computed in it; got a fork, in "
            "which JAX waits for threads that it does not have. Start processes by "
            "multiprocessing.get_context('spawn'), or fork before the first fit or prediction."
        )


def double(function: Callable[P, R]) -> Callable[P, R]:
    """Let `function` use 64-bit arrays, whatever JAX's global settings are.

    This decorates every entry point that leads to a Cholesky factor: gamma = 1e-10 needs
    float64, and a library must not enable it globally.
    """

    @functools.wraps(function)
    def in_double_precision(*args: P.args, **kwargs: P.kwargs) -> R:
        check_process()
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return in_double_precision


def to_numpy(tree: T) -> T:
    """Convert concrete JAX arrays to NumPy, so that later arithmetic keeps its precision."""

    def convert(leaf: object) -> object:
        if not isinstance(leaf, jax.Array) or isinstance(leaf, Tracer) or is_key(leaf):
            return leaf
        return np.asarray(leaf)

    return jax.tree.map(convert, tree)


def namespace(*arrays: object) -> ModuleType:
    """`jax.numpy` if one of these is an array of JAX, as inside a compiled program; else NumPy.

    Outside, JAX would compile each operation, which takes longer than the arithmetic.
    """
    return jnp if any(isinstance(array, jax.Array) for array in arrays) else np


def is_key(leaf: jax.Array | jax.ShapeDtypeStruct) -> bool:
    """Whether an array holds random keys."""
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
