"""Rows that enter a Gaussian known by a mean and a root of its covariance, or leave it again."""

from typing import NamedTuple

import numpy as np

LARGEST_LEVERAGE = 1 - 1e-10


class Coefficients(NamedTuple):
    """A Gaussian over coefficients c: its mean and a root of its covariance, for each output."""

    mean: np.ndarray
    root: np.ndarray

    def with_rows(
        self, design: np.ndarray, residual: np.ndarray, variance: np.ndarray
    ) -> "Coefficients":
        """The Gaussian after observing design c, with noise of these variances.

        Args:
            design: (output, row, coefficient).
            residual: Observations less their means under this Gaussian, (output, row).
            variance: (output, row).
        """
        return self._changed(design, residual, variance, sign=1.0)

    def without_rows(
        self, design: np.ndarray, residual: np.ndarray, variance: np.ndarray
    ) -> "Coefficients":
        """The Gaussian before it observed these rows, the inverse of `with_rows`."""
        return self._changed(design, residual, variance, sign=-1.0)

    def _changed(
        self, design: np.ndarray, residual: np.ndarray, variance: np.ndarray, sign: float
    ) -> "Coefficients":
        scale = 1 / np.sqrt(variance)
        scaled = (design * scale[..., None], residual * scale)
        parts = zip(self.mean, self.root, *scaled, strict=True)
        changed = [_changed_output(*part, sign) for part in parts]
        # A view if there is one output: its root is the largest array by far.
        stack = np.stack if len(changed) > 1 else lambda parts: parts[0][None]
        mean, root = (stack(part) for part in zip(*changed, strict=True))
        return Coefficients(mean, root)


def _changed_output(
    mean: np.ndarray, root: np.ndarray, design: np.ndarray, residual: np.ndarray, sign: float
) -> tuple[np.ndarray, np.ndarray]:
    """One output, with noise of variance one.

    With B = root^T design^T = U S V^T, the covariance becomes root (I + sign B B^T)^-1 root^T,
    whose symmetric root is I - U (1 - (1 + sign S^2)^-1/2) U^T.
    """
    left, values, right = np.linalg.svd((design @ root).T, full_matrices=False)
    if sign < 0 and values.max(initial=0.0) ** 2 > LARGEST_LEVERAGE:
        raise ValueError(
            "forgetting expects rows that the posterior has learned from; got rows that say more "
            "than it knows. Pass inputs, targets and weights exactly as they were learned."
        )
    kept = 1 + sign * values**2
    turned = root @ left
    moved = turned @ (values / kept * (right @ residual))
    # Written to one new array: for a single row, memory is what takes the time.
    changed = (turned * (1 - 1 / np.sqrt(kept))) @ left.T
    return mean + sign * moved, np.subtract(root, changed, out=changed)
