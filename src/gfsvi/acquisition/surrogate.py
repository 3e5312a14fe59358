"""What a fit says about the function at rows, turned so that larger is better."""

import dataclasses
from typing import Literal, NamedTuple, cast

import numpy as np
from scipy import linalg

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import Numbers
from gfsvi.predictives.base import AbstractRealPredictive

Goal = Literal["max", "min"]
JITTER, LARGEST_JITTER = 1e-8, 1e-2
"""Added to the diagonal of covariances before they are factorised, in shares of its mean."""
BLOCK = 256
"""Rows whose covariances with pending rows are computed at a time."""


@dataclasses.dataclass(frozen=True)
class Surrogate:
    """The mean of an observation at rows, as a Gaussian over functions.

    Args:
        fitted: A fit to one column of numbers.
        goal: Whether large or small observations are good.
    """

    fitted: Fitted
    goal: Goal = "max"

    def __post_init__(self) -> None:
        if self.goal not in ("max", "min"):
            raise ValueError(f"the goal expects 'max' or 'min'; got {self.goal!r}. Choose one.")
        target = self.fitted.target
        if not isinstance(target, Numbers) or np.size(target.centre) != 1:
            found = "several columns" if isinstance(target, Numbers) else "labels"
            raise ValueError(
                f"suggesting rows expects a model of one column of numbers; got one of {found}. "
                "Fit a model to the column that is to be optimised."
            )

    @property
    def sign(self) -> float:
        """What turns observations so that larger is better."""
        return 1.0 if self.goal == "max" else -1.0

    def marginals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations, (row,)."""
        predictive = cast(AbstractRealPredictive, self.fitted.predict(x))
        mean, std = (np.ravel(part) for part in (predictive.mean, predictive.epistemic_std))
        return self.sign * mean, std

    def joint(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means (row,) and covariances (row, row)."""
        predictive = cast(AbstractRealPredictive, self.fitted.predict(x))
        covariance = np.reshape(self.fitted.covariance(x), (len(x), len(x)))
        scatter = np.ravel(predictive.aleatoric_std) ** 2
        return self.sign * np.ravel(predictive.mean), covariance - np.diag(scatter)

    def noise(self, x: np.ndarray) -> np.ndarray:
        """The variance of an observation around its mean, (row,)."""
        predictive = cast(AbstractRealPredictive, self.fitted.predict(x))
        return np.ravel(predictive.aleatoric_std) ** 2


class Given(NamedTuple):
    """Rows as seen once the values at pending rows are known.

    With standard normal numbers w for the pending rows, the values there are `pending_mean +
    factor w`, and those at the rows have the mean `mean + slopes^T w` and the variance `variance`.
    """

    mean: np.ndarray
    variance: np.ndarray
    slopes: np.ndarray
    pending_mean: np.ndarray
    factor: np.ndarray


def given(surrogate: Surrogate, x: np.ndarray, pending: np.ndarray, noisy: bool) -> Given:
    """The rows `x` given values at pending rows, or given observations there if `noisy`."""
    if not len(pending):
        mean, std = surrogate.marginals(x)
        return Given(mean, std**2, np.zeros((0, len(x))), np.zeros(0), np.zeros((0, 0)))
    size = len(pending)
    blocks = [x[i : i + BLOCK] for i in range(0, len(x), BLOCK)]
    found = [surrogate.joint(np.concatenate([pending, block])) for block in blocks]
    mean = np.concatenate([mean[size:] for mean, _ in found])
    cross = np.concatenate([cov[:size, size:] for _, cov in found], axis=1)
    variance = np.concatenate([np.diagonal(cov)[size:] for _, cov in found])
    pending_mean, within = found[0][0][:size], found[0][1][:size, :size]
    added = surrogate.noise(pending) if noisy else 0.0
    factor, _ = rooted(within + added * np.eye(size))
    slopes = linalg.solve_triangular(factor, cross, lower=True)
    left = np.maximum(variance - np.sum(slopes**2, axis=0), 0)
    return Given(mean, left, slopes, pending_mean, factor)


def rooted(covariance: np.ndarray, jitter: float = JITTER) -> tuple[np.ndarray, float]:
    """A lower Cholesky factor, and the share of the mean variance added to the diagonal for it."""
    scale = max(float(np.mean(np.diagonal(covariance))), np.finfo(float).tiny)
    while True:
        raised = covariance + jitter * scale * np.eye(len(covariance))
        try:
            return linalg.cholesky(raised, lower=True, check_finite=False), jitter
        except np.linalg.LinAlgError:
            if jitter > LARGEST_JITTER:
                raise
            jitter *= 10
