"""Double precision where it matters, without touching anybody's global settings."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax
import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def double(function: Callable[P, R]) -> Callable[P, R]:
    """Let `function` use 64-bit arrays, whatever the session's JAX settings are.

    Every public door of the library that leads to a Cholesky factor wears this:
    gamma = 1e-10 needs float64, and a library must not switch it on for its users.
    """

    @functools.wraps(function)
    def in_double_precision(*args: P.args, **kwargs: P.kwargs) -> R:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return in_double_precision


def to_numpy(tree: T) -> T:
    """Hand concrete arrays out as NumPy, so that later arithmetic keeps its precision."""

    def convert(leaf: object) -> object:
        concrete = isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer)
        if not concrete or jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return leaf
        return np.asarray(leaf)

    return jax.tree.map(convert, tree)
