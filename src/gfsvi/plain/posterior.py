"""The closed-form posterior of a network at given rows, and what a process leaves open there."""

import dataclasses
from typing import Any

import numpy as np

from gfsvi.plain.kernels import KernelInNumpy, PlainKernel
from gfsvi.plain.networks import Layers, LinearizedInNumpy, first_moving, tangents

MAX_ELEMENTS = 4_000_000
"""Of a matrix (output, row, point); more rows are evaluated in blocks."""
BLOCK = 128
"""Rows of a triangular system. Another size rounds otherwise, and saved models must not change."""
SMALLEST = 1e-200
"""Added to the prior's variance, which may be zero."""


@dataclasses.dataclass(frozen=True)
class ConjugatePosterior:
    """`gfsvi.functions.ConjugateNetwork` in NumPy.

    Args:
        network: The network at the weights that it is linearised at.
        variances: The metric of the tangent kernel, a variance per layer.
        kernel: The kernel of the prior.
        points: The measurement points.
        shift: As in `ConjugateNetwork`, like all that follow.
        root: (output, point, point).
        eps: One per output.
        whitener: (point, point).
        near: A number.
        at_points: The network linearised at the points, if that is known already.
    """

    network: LinearizedInNumpy
    variances: tuple[float, ...]
    kernel: KernelInNumpy
    points: np.ndarray
    shift: np.ndarray
    root: np.ndarray
    eps: np.ndarray
    whitener: np.ndarray
    near: float = 1.0
    at_points: Layers | None = None

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means, W C W^T and what is left of the prior, each (output, row)."""
        at_points = self._at_points
        per_row = max(self.root[..., 0].size, len(self.root) * self.network.row_size)
        size = max(1, MAX_ELEMENTS // per_row)
        blocks = [self._block(x[i : i + size], at_points) for i in range(0, max(len(x), 1), size)]
        mean, known, left = (np.concatenate(part, axis=-1) for part in zip(*blocks, strict=True))
        return mean, known, np.broadcast_to(left, mean.shape)

    def marginals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances, each (output, row)."""
        mean, known, left = self.parts(x)
        return mean, known + left

    def joint(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (output, row) and covariances (output, row, row) between all rows."""
        f, weights, explained = self._design(x, self._at_points)
        spread = weights @ self.root
        prior = self.kernel.gram(x)
        left = prior - explained.T @ explained
        kept = np.sqrt(share_kept(np.diagonal(left), np.diagonal(prior), self.near))
        left = kept[:, None] * left * kept
        return self._mean(f, weights), spread @ spread.swapaxes(-1, -2) + left

    def design(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The network at rows, what `shift` and `root` are multiplied by, and what is left."""
        f, weights, explained = self._design(x, self._at_points)
        return f, weights, self._left(x, explained)

    @property
    def _at_points(self) -> Layers:
        if self.at_points is not None:
            return self.at_points
        return self.network.linearized(self.points, first_moving(self.variances))[1]

    def _block(self, x: np.ndarray, at_points: Layers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        f, weights, explained = self._design(x, at_points)
        known = np.sum((weights @ self.root) ** 2, axis=-1)
        return self._mean(f, weights), known, self._left(x, explained)

    def _design(
        self, x: np.ndarray, at_points: Layers
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The network at x, W(x) (T + eps I), and what the points explain of the prior there."""
        f, layers = self.network.linearized(x, first_moving(self.variances))
        explained = self.whitener @ self.kernel.cross(x, self.points).T
        through_prior = self.eps[:, None, None] * (explained.T @ self.whitener)
        return f, tangents(self.variances, layers, at_points) + through_prior, explained

    def _mean(self, f: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return f + np.einsum("opz,oz->op", weights, self.shift)

    def _left(self, x: np.ndarray, explained: np.ndarray) -> np.ndarray:
        prior = self.kernel.diagonal(x)
        left = np.maximum(prior - np.sum(explained**2, axis=0), 0)
        return left * share_kept(left, prior, self.near)


def share_kept(left: Any, prior: Any, near: float) -> Any:
    """The share that counts of a variance that is left of the prior's: all of it far from points.

    In arrays of NumPy or JAX.
    """
    return near + (1 - near) * (left / (prior + SMALLEST)).clip(0, 1)


def share_left(
    kernel: PlainKernel, known: np.ndarray, factor: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """The share of the prior's variance at rows that values at known rows leave, in [0, 1].

    Args:
        kernel: The kernel of the prior.
        known: Rows at which values are known, up to noise.
        factor: The lower Cholesky factor of their covariance, noise included.
        x: The rows.
    """
    explained = solve_lower(factor, kernel.cross(known, x))
    return np.clip(1 - np.sum(explained**2, axis=0) / kernel.diagonal(x), 0.0, 1.0)


def novelty(
    kernel: PlainKernel, known: np.ndarray, factor: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """What known rows leave open at rows, and at those beyond their range more; as `share_left`."""
    covered = 1 - share_left(kernel, known, factor, x)
    return 1 - covered * np.exp(-beyond_range(known, x))


def beyond_range(known: np.ndarray, x: np.ndarray) -> np.ndarray:
    """How far rows are beyond the range of known ones, in the column where that is farthest.

    In units of the rows, which are standard deviations: a column that hardly affects the target
    within its range, such as a date, may do so later.
    """
    return np.maximum(x - known.max(axis=0), known.min(axis=0) - x).max(axis=1).clip(0)


def solve_lower(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a lower triangular matrix block by block: NumPy has no such solver."""
    solved = np.empty_like(right)
    for start in range(0, len(factor), BLOCK):
        rows = slice(start, start + BLOCK)
        known = right[rows] - factor[rows, :start] @ solved[:start]
        solved[rows] = np.linalg.solve(factor[rows, rows], known)
    return solved
