"""Sums of decision trees, evaluated at many rows at once."""

from typing import NamedTuple

import numpy as np

MOST_NODES_AT_ONCE = 2_000_000
"""Rows times trees, which bounds memory."""
DEEPEST = 1_000
"""More steps than this no tree of a fit has: a file that states more is damaged."""


class Trees(NamedTuple):
    """Nodes of all trees in one list; a row goes left where its feature is at most the threshold.

    Args:
        feature: The feature that a node asks for, -1 at a leaf.
        threshold: In single precision, in which rows are compared.
        left: The next node of rows that go left; at a leaf, the node itself.
        right: The next node of all others.
        value: What a leaf adds to the sum.
        roots: The first node of each tree.
        depth: The number of steps after which every row is at a leaf.
        base: What the sum begins with.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    depth: int
    base: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The sum over trees at each row."""
        rows = np.asarray(x, np.float32)
        size = max(1, MOST_NODES_AT_ONCE // max(1, len(self.roots)))
        blocks = [self._block(rows[start : start + size]) for start in range(0, len(rows), size)]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def _block(self, rows: np.ndarray) -> np.ndarray:
        num_features, num_trees = rows.shape[1], len(self.roots)
        flat, total = rows.ravel(), np.full(len(rows), float(self.base))
        node = np.tile(self.roots, len(rows))
        place = np.repeat(np.arange(len(rows)), num_trees)
        for step in range(self.depth + 1):
            feature = self.feature[node]
            is_leaf = feature < 0
            if step == self.depth or is_leaf.any():
                values = self.value[node[is_leaf]]
                total += np.bincount(place[is_leaf], values, len(rows))
                inner = ~is_leaf
                node, place, feature = node[inner], place[inner], feature[inner]
            seen = flat[place * num_features + feature]
            node = np.where(seen <= self.threshold[node], self.left[node], self.right[node])
        return total

    def check(self, num_features: int) -> None:
        """Raise unless every row of so many features ends at a leaf."""
        size = len(self.feature)
        nodes = (self.left, self.right, self.roots)
        if not 0 <= self.depth <= DEEPEST or any(len(part) != size for part in self[:5]):
            raise ValueError("trees of different sizes")
        if size == 0 or any(np.any((part < 0) | (part >= size)) for part in nodes):
            raise ValueError("trees with nodes that do not exist")
        if np.any((self.feature < -1) | (self.feature >= num_features)):
            raise ValueError("trees of other features")
        if not np.isfinite(self.value).all() or not np.isfinite(self.base):
            raise ValueError("trees with values that are not finite")
