"""Compiling: quickly what runs once, and ahead of time what runs later."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def jit_fast_compile(function: F) -> F:
    """Compile a function that is called once or twice in half the time, for slower loops in it."""
    compiled = eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": 0})

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        leaves = jax.tree.leaves((arguments, options))
        # What is part of a larger program is compiled as that is.
        is_part = any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)
        return (function if is_part else compiled)(*arguments, **options)

    cast(Any, call).lower = compiled.lower
    return cast(F, call)


def compile_now(compiled: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Have a compiled function ready for arguments like these, without calling it."""
    cast(Any, compiled).lower(*arguments, **options).compile()


def filled(shapes: T, key: PRNGKeyArray) -> T:
    """Zeros of these shapes; in place of a key this one."""

    def fill(leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return key
        return jnp.asarray(np.zeros(leaf.shape, leaf.dtype))

    return jax.tree.map(fill, shapes)
