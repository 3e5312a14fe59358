"""Choose the noise and the step of the mean by leaving every row out in closed form."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh, solve_triangular
from scipy.optimize import OptimizeResult, minimize_scalar

from gfsvi.data import Data
from gfsvi.inference.conjugate import Interpolation, Sums, sums_over_rows
from gfsvi.inference.evidence import targets_of
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
SMALLEST_NOISE, LARGEST_NOISE = 1e-3, 3.0
"""In standard deviations of the targets."""
MAX_ROWS = 2000
"""More rows than this are not needed to choose noise and step."""


class Choice(NamedTuple):
    """A noise level, the step of the mean, and the log density of each row left out with them."""

    noise: float
    step: float
    log_densities: Float[np.ndarray, " row"]
    counts: Float[np.ndarray, " row"]

    @property
    def log_density(self) -> float:
        """The mean over rows."""
        return float(np.average(self.log_densities, weights=self.counts))

    def beats(self, other: "Choice") -> bool:
        """Whether rows are more probable than under another choice, beyond a standard error."""
        gains = self.log_densities - other.log_densities
        gain = np.average(gains, weights=self.counts)
        variance = np.average((gains - gain) ** 2, weights=self.counts)
        return bool(gain > np.sqrt(variance / len(gains)))


def left_out_choices(interpolation: Interpolation, model: Model, data: Data) -> list[Choice]:
    """For each output, the noise and step under which rows that are left out are most probable.

    The mean takes the whole step to the maximum of the objective unless a shorter one is better
    beyond a standard error. All rows decide on the posterior, and up to `MAX_ROWS` of them are
    left out, each together with its copies, which would make the noise look small.
    """
    values = np.asarray(targets_of(model, Data(data.x, data.y)).values)
    ones = np.broadcast_to(1 / np.asarray(data.row_weights), values.shape)
    sums = sums_over_rows(interpolation, data.x, GaussianTargets(values, ones))
    few = data.merged().thinned(MAX_ROWS)
    f, weights = interpolation.rows(np.asarray(few.x))
    y = np.asarray(targets_of(model, Data(few.x, few.y)).values)
    counts = np.asarray(few.row_weights)
    left = left_of_prior(interpolation, np.asarray(few.x, np.float64))
    return [
        _LeftOut.of(interpolation, sums, o, weights[o], y[o] - f[o], counts, left).best(
            float(np.std(values[o])) or 1.0
        )
        for o in range(len(f))
    ]


def left_of_prior(interpolation: Interpolation, x: np.ndarray) -> Float[np.ndarray, " row"]:
    """The prior's variance at rows that its values at the points leave open."""
    cross, variance = map(np.asarray, _prior_at(interpolation, x))
    explained = solve_triangular(interpolation.prior_factor, cross, lower=True)
    return np.maximum(variance - np.sum(explained**2, axis=0), 0)


def _prior_at(interpolation: Interpolation, x: np.ndarray) -> tuple[Array, Array]:
    kernel, points = interpolation.prior.kernel, jnp.asarray(interpolation.points)
    return kernel.cross(points, jnp.asarray(x)), kernel.diagonal(jnp.asarray(x))


class _LeftOut(NamedTuple):
    """Rows in axes along which every noise level costs one product of matrices."""

    residual: Float[np.ndarray, " row"]
    to_prior: Float[np.ndarray, " row"]
    axes: Float[np.ndarray, "row point"]
    eigenvalues: Float[np.ndarray, " point"]
    pull: Float[np.ndarray, " point"]
    counts: Float[np.ndarray, " row"]
    left: Float[np.ndarray, " row"]

    @classmethod
    def of(
        cls,
        interpolation: Interpolation,
        sums: Sums,
        output: int,
        weights: np.ndarray,
        residual: np.ndarray,
        counts: np.ndarray,
        left: np.ndarray,
    ) -> "_LeftOut":
        factor, precision = interpolation.prior_factor, sums.precision[output]
        distance = interpolation.prior_mean[output] - interpolation.values[output]
        eigenvalues, vectors = eigh(factor.T @ precision @ factor)
        rotated = factor @ vectors
        pull = rotated.T @ (sums.pull[output] - precision @ distance)
        eigenvalues = np.maximum(eigenvalues, 0)
        to_prior = weights @ distance
        return cls(residual, to_prior, weights @ rotated, eigenvalues, pull, counts, left)

    def log_densities(self, noise: float, step: float) -> Float[np.ndarray, " row"]:
        """The log density of each row, left out."""
        variance = noise**2
        shrunk = 1 + self.eigenvalues / variance
        spread = np.square(self.axes) @ (1 / shrunk)
        kept = 1 - np.minimum(self.counts * spread / variance, 1 - 1e-6)
        moved = self.to_prior + self.axes @ (self.pull / variance / shrunk)
        residual = (self.residual - step * moved) / kept
        total = spread / kept + self.left + variance
        return -0.5 * (np.log(2 * np.pi * total) + residual**2 / total)

    def best(self, scale: float) -> Choice:
        """The best choice for targets of this scale, with the whole step in case of doubt."""
        *shorter, whole = (self._best_noise(step, scale) for step in STEPS)
        best = max(shorter, key=lambda choice: choice.log_density)
        return best if best.beats(whole) else whole

    def _best_noise(self, step: float, scale: float) -> Choice:
        def loss(log_noise: float) -> float:
            found = self.log_densities(np.exp(log_noise), step)
            return -float(np.average(found, weights=self.counts))

        bounds = (np.log(SMALLEST_NOISE * scale), np.log(LARGEST_NOISE * scale))
        result: OptimizeResult = minimize_scalar(loss, bounds=bounds, method="bounded")
        noise = float(np.exp(result["x"]))
        return Choice(noise, step, self.log_densities(noise, step), self.counts)
