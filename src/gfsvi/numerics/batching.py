"""Rows block by block: in few sizes, so that little is compiled, or within one program."""

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

T = TypeVar("T")

MAX_BLOCK = 8192
MIN_BLOCK = 64


def in_blocks(
    function: Callable[[np.ndarray], jax.Array], x: np.ndarray, max_block: int = MAX_BLOCK
) -> np.ndarray:
    """Apply a function to blocks of rows whose sizes are powers of two; one result per row."""
    parts = []
    for start in range(0, len(x), max_block):
        block = x[start : start + max_block]
        parts.append(np.asarray(function(padded(block)))[: len(block)])
    return np.concatenate(parts)


def padded(x: np.ndarray) -> np.ndarray:
    """The rows, with the last one repeated up to the next power of two."""
    size = max(MIN_BLOCK, 1 << max(0, len(x) - 1).bit_length())
    return np.concatenate([x, np.repeat(x[-1:], size - len(x), axis=0)])


def map_blocks(function: Callable[[Array], T], x: Array, size: int) -> T:
    """Apply a function to blocks of this many rows within a compiled program.

    The first axis of its results are the rows. Gradients compute blocks again, not store them.
    """
    if size >= len(x):
        return function(x)
    num_blocks = -(-len(x) // size)
    padded = jnp.pad(x, [(0, num_blocks * size - len(x))] + [(0, 0)] * (x.ndim - 1), mode="edge")
    blocks = jnp.reshape(padded, (num_blocks, size, *x.shape[1:]))
    results = jax.lax.map(jax.checkpoint(function), blocks)
    return jax.tree.map(lambda r: jnp.reshape(r, (-1, *r.shape[2:]))[: len(x)], results)


def spreads(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Standard deviations of columns, 1 for columns that are constant up to rounding."""
    if weights is None:
        spread = values.std(axis=0)
    else:
        centre = np.average(values, axis=0, weights=weights)
        spread = np.sqrt(np.average((values - centre) ** 2, axis=0, weights=weights))
    return np.where(spread > 1e-12 * np.abs(values).max(axis=0), spread, 1.0)
