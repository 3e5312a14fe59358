"""A sum of decision trees as the mean of a random function."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from gfsvi.functions.means import AbstractMean, Means
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.plain.trees import Trees


class TreeMean(AbstractMean):
    """The sum of decision trees at each point, computed in NumPy or in JAX.

    Args:
        feature: The feature that a node asks for, -1 at a leaf.
        threshold: Points whose feature is at most this go left.
        left: The next node of points that go left; at a leaf, the node itself.
        right: The next node of all others.
        value: What a leaf adds to the sum.
        roots: The first node of each tree.
        base: What the sum begins with.
        depth: The number of steps after which every point is at a leaf.
    """

    feature: Int[Array, " node"]
    threshold: Float[Array, " node"]
    left: Int[Array, " node"]
    right: Int[Array, " node"]
    value: Float[Array, " node"]
    roots: Int[Array, " tree"]
    base: float
    depth: int

    @double
    def at(self, x: Points) -> Means:
        rows = jnp.asarray(x, jnp.float32)
        feature, threshold, left, right = map(
            jnp.asarray, (self.feature, self.threshold, self.left, self.right)
        )
        start = jnp.broadcast_to(jnp.asarray(self.roots), (len(rows), len(self.roots)))

        def step(_: int, node: Array) -> Array:
            seen = jnp.take_along_axis(rows, jnp.maximum(feature[node], 0), axis=1)
            return jnp.where(seen <= threshold[node], left[node], right[node])

        leaves = jax.lax.fori_loop(0, self.depth, step, start)
        values = jnp.asarray(self.value, jnp.float64)[leaves]
        return (self.base + jnp.sum(values, axis=1))[None]

    def in_numpy(self, x: np.ndarray) -> np.ndarray:
        """One row of values, for the single output that trees have."""
        return self.trees(x)[None]

    def rescaled(self, scale: float, shift: float) -> "TreeMean":
        """`scale` times the sum of the trees, plus `shift`."""
        value = (scale * np.asarray(self.value, np.float64)).astype(np.float32)
        base = float(scale * self.base + shift)
        return dataclasses.replace(self, value=value, base=base)

    @property
    def trees(self) -> Trees:
        """The same in NumPy."""
        return Trees(
            np.asarray(self.feature),
            np.asarray(self.threshold),
            np.asarray(self.left),
            np.asarray(self.right),
            np.asarray(self.value),
            np.asarray(self.roots),
            int(self.depth),
            float(self.base),
        )
