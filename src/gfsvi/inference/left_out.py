"""Choose the noise by rows that are left out in closed form, or by rows that were held out."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh, solve_triangular
from scipy.optimize import OptimizeResult, minimize_scalar

from gfsvi.data import Data, Rows
from gfsvi.inference.conjugate import Interpolation, Sums, sums_over
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.resolution import rounding_noise
from gfsvi.inference.tails import FitTails, Tails, normal_tails
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.numerics.types import Points
from gfsvi.plain.posterior import share_kept

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
SHARES_NEAR = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7)
"""Of the variance that the points leave of the prior, close to them."""
SMALLEST_NOISE, LARGEST_NOISE = 1e-3, 3.0
"""In standard deviations of the targets."""
LARGEST_LEVERAGE = 1 - 1e-6
MAX_ROWS = 2000
"""More rows than this are not needed to choose noise and step."""


class Choice(NamedTuple):
    """What was chosen for an output, and the log density of each row under it.

    Args:
        noise: The standard deviation of the noise.
        step: The step of the mean.
        tails: The tails.
        near: The share of what is left of the prior that counts close to the points.
        log_densities: The log density of each row.
        counts: How often each row counts.
    """

    noise: float
    step: float
    tails: Tails
    near: float
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


def sums_of_unit_noise(interpolation: Interpolation, model: Model, rows: Rows) -> Sums:
    """The sums over rows if the noise were one, which serve every noise."""

    def targets(data: Data) -> GaussianTargets:
        values = np.asarray(targets_of(model, Data(data.x, data.y)).values)
        return GaussianTargets(values, np.broadcast_to(1 / data.row_weights, values.shape))

    return sums_over(interpolation, rows, targets)


def choices(
    interpolation: Interpolation,
    model: Model,
    rows: Rows,
    sums: Sums,
    *,
    held_out: Data | None = None,
    tails: FitTails = normal_tails,
) -> list[Choice]:
    """The choices by held-out rows, if there are any, or by leaving rows out."""
    if held_out is not None:
        return held_out_choices(interpolation, model, held_out, sums, tails=tails)
    return left_out_choices(interpolation, model, rows.sample, sums, tails=tails)


def left_out_choices(
    interpolation: Interpolation,
    model: Model,
    data: Data,
    sums: Sums,
    *,
    tails: FitTails = normal_tails,
) -> list[Choice]:
    """For each output, the noise under which rows that are left out are most probable.

    All rows decide on the posterior, and up to `MAX_ROWS` of them are left out, each together with
    its copies, which would make the noise look small. The mean takes the whole step: the network
    has been trained on every row, so that shorter steps cannot be judged by its residuals.
    """
    few = rows_to_leave_out(data)
    judged = _judged_rows(interpolation, model, sums, few, np.asarray(few.row_weights))
    return [rows.best((1.0,), tails) for rows in judged]


def rows_to_leave_out(data: Data) -> Data:
    """Up to `MAX_ROWS` different rows, which count as often as they occur."""
    return data.merged().thinned(MAX_ROWS)


def held_out_choices(
    interpolation: Interpolation,
    model: Model,
    held_out: Data,
    sums: Sums,
    *,
    tails: FitTails = normal_tails,
) -> list[Choice]:
    """For each output, the choice under which held-out rows are most probable.

    The mean takes the whole step to the maximum of the objective unless a shorter one is better
    beyond a standard error. One function has one step for all outputs, and the same share of what
    is left of the prior: all of it unless rows that are no points say enough about it.
    """
    few = held_out.thinned(MAX_ROWS)
    judged = _judged_rows(interpolation, model, sums, few, np.zeros(len(few)))
    step = float(np.mean([rows.best(STEPS, tails).step for rows in judged]))
    whole = [rows.best((step,), tails) for rows in judged]
    narrower = [
        [rows.leaving(near).best((step,), tails) for rows in judged] for near in SHARES_NEAR
    ]
    best = max(narrower, key=lambda found: sum(choice.log_density for choice in found))
    return best if _together(best).beats(_together(whole)) else whole


def _together(found: list[Choice]) -> Choice:
    """The choices for several outputs as one, by the mean of their log densities."""
    return found[0]._replace(log_densities=np.mean([c.log_densities for c in found], axis=0))


def _judged_rows(
    interpolation: Interpolation, model: Model, sums: Sums, few: Data, counts: np.ndarray
) -> "list[_Judged]":
    """Rows to judge by, which count in the fit as often as `counts` says."""
    f, weights = interpolation.rows(np.asarray(few.x))
    y = np.asarray(targets_of(model, Data(few.x, few.y)).values)
    given = (np.asarray(few.row_weights), counts, left_of_prior(interpolation, few.x))
    judged = []
    for o, residual in enumerate(y - f):
        scale = float(np.std(y[o])) or 1.0
        axes = _axes(interpolation, sums, o, weights[o])
        least = max(SMALLEST_NOISE * scale, rounding_noise(y[o]))
        judged.append(_Judged(residual, *axes, scale, *given, least))
    return judged


def _axes(
    interpolation: Interpolation, sums: Sums, output: int, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of an output: W (prior mean - f) at rows, W in the axes, eigenvalues, pull of the data."""
    factor, precision = interpolation.prior_factor, sums.precision[output]
    distance = interpolation.prior_mean[output] - interpolation.values[output]
    eigenvalues, vectors = eigh(factor.T @ precision @ factor)
    rotated = factor @ vectors
    pull = rotated.T @ (sums.pull[output] - precision @ distance)
    return weights @ distance, weights @ rotated, np.maximum(eigenvalues, 0), pull


class Left(NamedTuple):
    """The variance of a prior at rows, and how much of it its values at the points leave open."""

    prior: Float[np.ndarray, " row"]
    left: Float[np.ndarray, " row"]

    def variance(self, near: float = 1.0) -> Float[np.ndarray, " row"]:
        """What counts of it in a posterior with this share close to the points."""
        return self.left * share_kept(self.left, self.prior, near)


def left_of_prior(interpolation: Interpolation, x: Points) -> Left:
    """The prior's variance at rows that its values at the points leave open."""
    cross, variance = interpolation.evaluation.prior_at(np.asarray(x, np.float64))
    explained = solve_triangular(interpolation.prior_factor, cross, lower=True)
    return Left(variance, np.maximum(variance - np.sum(explained**2, axis=0), 0))


class _Judged(NamedTuple):
    """Rows in axes along which every noise level costs one product of matrices."""

    residual: Float[np.ndarray, " row"]
    to_prior: Float[np.ndarray, " row"]
    axes: Float[np.ndarray, "row point"]
    eigenvalues: Float[np.ndarray, " point"]
    pull: Float[np.ndarray, " point"]
    scale: float
    row_weights: Float[np.ndarray, " row"]
    counts: Float[np.ndarray, " row"]
    left: Left
    least_noise: float
    near: float = 1.0

    def leaving(self, near: float) -> "_Judged":
        """The same rows if less is left of the prior close to the points."""
        return self._replace(near=near)

    def predicted(self, noise: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and variances of observations, each without its own effect on the fit."""
        variance = noise**2
        shrunk = 1 + self.eigenvalues / variance
        spread = np.square(self.axes) @ (1 / shrunk)
        kept = 1 - np.minimum(self.counts * spread / variance, LARGEST_LEVERAGE)
        moved = self.to_prior + self.axes @ (self.pull / variance / shrunk)
        residual = (self.residual - step * moved) / kept
        return residual, spread / kept + self.left.variance(self.near) + variance

    def best(self, steps: Sequence[float], tails: FitTails) -> Choice:
        """The best choice, with the last of these steps in case of doubt."""
        *shorter, whole = (self._best_noise(step, tails) for step in steps)
        best = max(shorter, key=lambda choice: choice.log_density, default=whole)
        return best if best.beats(whole) else whole

    def _best_noise(self, step: float, tails: FitTails) -> Choice:
        def loss(log_noise: float) -> float:
            predicted = self.predicted(np.exp(log_noise), step)
            found = tails(*predicted, self.row_weights)[1]
            return -float(np.average(found, weights=self.row_weights))

        bounds = (np.log(self.least_noise), np.log(LARGEST_NOISE * self.scale))
        result: OptimizeResult = minimize_scalar(loss, bounds=bounds, method="bounded")
        noise = float(np.exp(result["x"]))
        found, densities = tails(*self.predicted(noise, step), self.row_weights)
        if found.spread * noise < self.least_noise:
            noise = self.least_noise / found.spread
            densities = found.log_densities(*self.predicted(noise, step))
        return Choice(noise, step, found, self.near, densities, self.row_weights)
