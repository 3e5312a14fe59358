"""Rows of many regressions under one prior, in coordinates in which that prior is standard normal.

Values at the points are the prior mean plus L times white ones, L L^T the prior's covariance there,
so that a regression is a ridge regression on W L. Rounds of regressions differ in their targets
only: W L is computed once for all of them.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_solve, solve_triangular

from gfsvi.inference.conjugate import Interpolation, Solution, factor_of
from gfsvi.inference.left_out import left_of_prior
from gfsvi.likelihoods.gaussian_targets import GaussianTargets

AtRows = Float[np.ndarray, "output row"]


class WhiteSolution(NamedTuple):
    """White values at the points: their mean, and a lower factor of their precision.

    `log_evidence` is that of the targets, over all outputs.
    """

    mean: Float[np.ndarray, "output point"]
    factor: Float[np.ndarray, "output point point"]
    log_evidence: float


class WhiteRows(NamedTuple):
    """Rows at which the network and what interpolates are evaluated once.

    Args:
        f: The network at the rows.
        start: The function there if its values at the points are the prior mean.
        weights: W L there.
        left: The variance that the points leave.
    """

    f: AtRows
    start: AtRows
    weights: Float[np.ndarray, "output row point"]
    left: Float[np.ndarray, "..."]

    @classmethod
    def at(cls, interpolation: Interpolation, x: np.ndarray) -> "WhiteRows":
        """Evaluate rows; what outputs share is computed once."""
        f, weights = interpolation.rows(x)
        distance = interpolation.prior_mean - interpolation.values
        start = f + np.stack([w @ d for w, d in zip(weights, distance, strict=True)])
        distinct = weights[: len(interpolation.tangent_factors)]
        white = np.stack([w @ interpolation.prior_factor for w in distinct])
        left = left_of_prior(interpolation, x).variance()
        return cls(f, start, np.broadcast_to(white, (len(f), *white.shape[1:])), left)

    def solved(self, targets: GaussianTargets) -> WhiteSolution:
        """The conjugate posterior if these are the targets of the rows."""
        values, variance = np.asarray(targets.values), np.asarray(targets.variance)
        means, factors = [], []
        evidence = -0.5 * float(np.sum(np.log(2 * np.pi * variance)))
        for weights, residual, v in zip(self.weights, values - self.start, variance, strict=True):
            scaled = weights / np.sqrt(v)[:, None]
            half = factor_of(scaled.T @ scaled + np.eye(scaled.shape[1]))
            pull = weights.T @ (residual / v)
            mean = cho_solve((half, True), pull, check_finite=False)
            evidence += 0.5 * float(pull @ mean - residual @ (residual / v))
            evidence -= float(np.sum(np.log(np.diagonal(half))))
            means.append(mean)
            factors.append(half)
        return WhiteSolution(np.stack(means), np.stack(factors), evidence)

    def moments(self, solution: WhiteSolution) -> tuple[AtRows, AtRows]:
        """Mean and variance of the function at the rows."""
        mean = np.stack([w @ m for w, m in zip(self.weights, solution.mean, strict=True)])
        pairs = zip(solution.factor, self.weights, strict=True)
        halves = (solve_triangular(c, w.T, lower=True, check_finite=False) for c, w in pairs)
        known = np.stack([np.sum(half**2, axis=0) for half in halves])
        return self.start + mean, known + self.left


def unwhitened(interpolation: Interpolation, solution: WhiteSolution) -> Solution:
    """The same solution as values at the points."""
    factor = interpolation.prior_factor
    distance = interpolation.prior_mean - interpolation.values
    shift = distance + np.stack([factor @ mean for mean in solution.mean])
    roots = [solve_triangular(half, factor.T, lower=True).T for half in solution.factor]
    return Solution(shift, np.stack(roots), solution.log_evidence)
