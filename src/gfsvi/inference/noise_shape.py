"""A noise function from the residuals of rows that are left out.

Because the residuals are left-out ones, noise cannot explain away what the function has not learned
yet, which is what happens if both are trained together.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import OptimizeResult, minimize

from gfsvi.inference.tails import Tails
from gfsvi.likelihoods.noise_function import LARGEST_LOG, bumps

WIDTHS = (1.0, 2.0, 4.0)
"""Length scales of the noise function that are tried, in those of the prior."""
STD_OF_LOG = 1.0
"""The prior's standard deviation of the log of the noise."""
MAX_POINTS = 300
NUM_FOLDS = 5
FEWEST_ROWS = 100
NUM_STEPS = 60
JITTER = 1e-6


class LeftOut(NamedTuple):
    """Rows that are left out: inputs, residuals, variances of the function, and row weights."""

    x: np.ndarray
    residuals: np.ndarray
    variances: np.ndarray
    weights: np.ndarray

    def take(self, rows: np.ndarray) -> "LeftOut":
        """Some of the rows."""
        return LeftOut(*(part[rows] for part in self))


class Shape(NamedTuple):
    """A level, and the log of a noise function by bumps at points."""

    log_noise: float
    points: np.ndarray
    lengthscale: np.ndarray
    coefficients: np.ndarray

    def noise(self, x: np.ndarray) -> np.ndarray:
        """The standard deviation of the noise at rows."""
        logs = self.coefficients @ bumps(self.points, x, self.lengthscale)
        return np.exp(self.log_noise + np.clip(logs, -LARGEST_LOG, LARGEST_LOG))


def chosen_width(
    rows: LeftOut,
    lengthscale: np.ndarray,
    noise: float,
    tails: Tails,
    *,
    stop: Callable[[], bool] | None = None,
) -> float | None:
    """The length scale of a noise function that predicts left-out rows, in those of the prior.

    None if one noise level is as good: rows are predicted by functions that have not seen their
    residuals, and have to become more probable by a standard error. `stop` is asked before each
    function whether one noise level has to do.
    """
    if len(rows.x) < FEWEST_ROWS:
        return None
    even = tails.log_densities(rows.residuals, rows.variances + noise**2)
    gains = {}
    for width in WIDTHS:
        found = unseen_noise(rows, width * lengthscale, noise, tails, stop=stop)
        if found is None:
            return None
        gains[width] = tails.log_densities(rows.residuals, rows.variances + found**2) - even
    width = max(gains, key=lambda one: np.average(gains[one], weights=rows.weights))
    gain = np.average(gains[width], weights=rows.weights)
    error = np.sqrt(np.average((gains[width] - gain) ** 2, weights=rows.weights) / len(rows.x))
    return width if gain > error else None


def unseen_noise(
    rows: LeftOut,
    lengthscale: np.ndarray,
    noise: float,
    tails: Tails,
    *,
    stop: Callable[[], bool] | None = None,
) -> Float[np.ndarray, " row"] | None:
    """The noise at each row by a function that has not seen its residual; None without time."""
    folds = np.random.default_rng(0).permutation(len(rows.x)) % NUM_FOLDS
    found = np.empty(len(rows.x))
    for fold in range(NUM_FOLDS):
        if stop is not None and stop():
            return None
        shape = fitted_shape(rows.take(folds != fold), lengthscale, noise, tails)
        found[folds == fold] = shape.noise(rows.x[folds == fold])
    return found


def fitted_shape(rows: LeftOut, lengthscale: np.ndarray, noise: float, tails: Tails) -> Shape:
    """The most probable level and noise function, whose log has a Gaussian-process prior."""
    order = np.random.default_rng(0).permutation(len(rows.x))[:MAX_POINTS]
    points = rows.x[np.sort(order)]
    gram = bumps(points, points, lengthscale)
    factor = cholesky(gram + JITTER * np.eye(len(points)), lower=True)
    basis = STD_OF_LOG * solve_triangular(factor, bumps(points, rows.x, lengthscale), lower=True).T
    start = np.zeros(len(points) + 1)
    start[0] = np.log(noise)
    result: OptimizeResult = minimize(
        _loss,
        start,
        args=(rows, basis, tails),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": NUM_STEPS},
    )
    level, *heights = result["x"]
    coefficients = STD_OF_LOG * solve_triangular(factor.T, np.array(heights), lower=False)
    return Shape(float(level), points, lengthscale, coefficients)


def _loss(
    vector: np.ndarray, rows: LeftOut, basis: np.ndarray, tails: Tails
) -> tuple[float, np.ndarray]:
    """Minus the log density of residuals and of whitened heights, and its gradient."""
    level, heights = vector[0], vector[1:]
    noise_variance = np.exp(2 * np.clip(level + basis @ heights, -20, 20))
    total = rows.variances + noise_variance
    logs = tails.log_densities(rows.residuals, total)
    value = -float(rows.weights @ logs) + 0.5 * float(heights @ heights)
    freedom = tails.degrees_of_freedom
    squares = rows.residuals**2 / (tails.spread**2 * total)
    # d log density / d log total, then d log total / d log noise
    by_total = -0.5 + 0.5 * (freedom + 1) * squares / (freedom + squares)
    by_log = -rows.weights * by_total * 2 * noise_variance / total
    return value, np.concatenate([[by_log.sum()], basis.T @ by_log + heights])
