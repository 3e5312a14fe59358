"""Compilation: fast for functions that run once, ahead of time for those that run later."""

import functools
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import PRNGKeyArray

from gfsvi.numerics.precision import is_key

MANY_MAPS = 20_000

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def jit_fast_compile(function: F) -> F:
    """Compile in half the time, at the cost of slower loops; for functions called once or twice."""
    options = {"xla_backend_optimization_level": 0}
    compiled = cast(Any, eqx.filter_jit)(function, compiler_options=options)  # stubs lack options

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        leaves = jax.tree.leaves((arguments, options))
        # Inside a larger program, the function is compiled as part of it.
        is_part = any(isinstance(leaf, Tracer) for leaf in leaves)
        return (function if is_part else compiled)(*arguments, **options)

    cast(Any, call).lower = compiled.lower
    return cast(F, call)


def compile_now(compiled: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Compile a jitted function for arguments like these, without calling it."""
    cast(Any, compiled).lower(*arguments, **options).compile()


def let_go_if_many() -> None:
    """Forget compiled programs, which are compiled again when needed, if they have become many.

    Each takes several memory maps, of which Linux allows a process 65,530: thousands of fits of
    different shapes would end in "Cannot allocate memory".
    """
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MANY_MAPS:
        jax.clear_caches()
        gc.collect()


def filled(shapes: T, key: PRNGKeyArray) -> T:
    """Arrays of zeros with these shapes, and `key` in place of keys."""

    def fill(leaf: object) -> object:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        if is_key(leaf):
            return key
        return jnp.asarray(np.zeros(leaf.shape, leaf.dtype))

    return jax.tree.map(fill, shapes)
