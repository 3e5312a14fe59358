"""The log-likelihood of all rows and its derivatives by the function's values, in NumPy."""

from typing import NamedTuple, Protocol

import numpy as np

from gfsvi.data import Data
from gfsvi.likelihoods.base import AbstractLikelihood, per_output
from gfsvi.likelihoods.bernoulli import Bernoulli
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.likelihoods.negative_binomial import NegativeBinomial
from gfsvi.likelihoods.poisson import Poisson

LARGEST_LOG_RATE = 300.0
"""Beyond it a step that went too far would not be finite."""


class RowSlopes(Protocol):
    """How a function's values at rows (row, output) change the log-likelihood of targets there."""

    def __call__(self, f: np.ndarray) -> tuple[float, np.ndarray]:
        """The log-likelihood up to a constant, and its derivatives (row, output)."""
        ...

    def take(self, rows: np.ndarray) -> "RowSlopes":
        """The same for some of the rows."""
        ...


def row_slopes(likelihood: AbstractLikelihood, data: Data, num_outputs: int) -> RowSlopes | None:
    """The slopes of a likelihood at rows; None if it has none in NumPy."""
    y = np.asarray(data.y)
    weights = np.ones(len(y)) if data.weights is None else np.asarray(data.weights)
    if likelihood.solved_as_normal:
        targets = likelihood.gaussian_targets(y, num_outputs).weighted(data.weights)
        values, variance = (np.asarray(part, np.float64).T for part in targets[:2])
        return _OfNormal(values, 1 / np.broadcast_to(variance, values.shape))
    if isinstance(likelihood, Categorical):
        return _OfClasses(np.eye(num_outputs)[y.astype(int)], weights[:, None])
    if isinstance(likelihood, Bernoulli):
        return _OfTwoClasses(y.astype(np.float64)[:, None], weights[:, None])
    if isinstance(likelihood, Poisson):
        return _OfEvents(_by_output(y), weights[:, None])
    if isinstance(likelihood, NegativeBinomial):
        size = 1 / np.asarray(per_output(likelihood.dispersion), np.float64).T
        return _OfCounts(_by_output(y), weights[:, None], size)
    return None


def _by_output(y: np.ndarray) -> np.ndarray:
    return y.astype(np.float64).reshape(len(y), -1)


class _OfNormal(NamedTuple):
    targets: np.ndarray
    precision: np.ndarray

    def __call__(self, f: np.ndarray) -> tuple[float, np.ndarray]:
        residual = self.targets - f
        slope = self.precision * residual
        return -0.5 * float(np.sum(residual * slope)), slope

    def take(self, rows: np.ndarray) -> "_OfNormal":
        return _OfNormal(self.targets[rows], self.precision[rows])


class _OfClasses(NamedTuple):
    one_hot: np.ndarray
    weights: np.ndarray

    def __call__(self, f: np.ndarray) -> tuple[float, np.ndarray]:
        shifted = f - f.max(axis=1, keepdims=True)
        log_probability = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
        value = float(np.sum(self.weights * self.one_hot * log_probability))
        return value, self.weights * (self.one_hot - np.exp(log_probability))

    def take(self, rows: np.ndarray) -> "_OfClasses":
        return _OfClasses(self.one_hot[rows], self.weights[rows])


class _OfTwoClasses(NamedTuple):
    is_one: np.ndarray
    weights: np.ndarray

    def __call__(self, f: np.ndarray) -> tuple[float, np.ndarray]:
        value = float(np.sum(self.weights * (self.is_one * f - np.logaddexp(0, f))))
        return value, self.weights * (self.is_one - 0.5 * (1 + np.tanh(f / 2)))

    def take(self, rows: np.ndarray) -> "_OfTwoClasses":
        return _OfTwoClasses(self.is_one[rows], self.weights[rows])


class _OfEvents(NamedTuple):
    counts: np.ndarray
    weights: np.ndarray

    def __call__(self, f: np.ndarray) -> tuple[float, np.ndarray]:
        rate = np.exp(np.minimum(f, LARGEST_LOG_RATE))
        value = float(np.sum(self.weights * (self.counts * f - rate)))
        return value, self.weights * (self.counts - rate)

    def take(self, rows: np.ndarray) -> "_OfEvents":
        return _OfEvents(self.counts[rows], self.weights[rows])


class _OfCounts(NamedTuple):
    counts: np.ndarray
    weights: np.ndarray
    size: np.ndarray

    def __call__(self, f: np.ndarray) -> tuple[float, np.ndarray]:
        odds, trials = f - np.log(self.size), self.counts + self.size
        value = float(np.sum(self.weights * (self.counts * f - trials * np.logaddexp(0, odds))))
        share = 0.5 * (1 + np.tanh(odds / 2))
        return value, self.weights * (self.counts - trials * share)

    def take(self, rows: np.ndarray) -> "_OfCounts":
        return self._replace(counts=self.counts[rows], weights=self.weights[rows])
