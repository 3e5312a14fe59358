"""Fit the closed-form posterior to data: the noise, the step of the mean, any likelihood.

Under a normal likelihood, after a warp or not, the posterior is conjugate and the noise is chosen
by leaving every row out in closed form. Other likelihoods are replaced, round after round, by the
Gaussian regression that has their expected slope and curvature (natural-gradient steps of length
one, damped), whose fixed point has zero gradient of the objective.
"""

# pyright: reportArgumentType=false
# Factors are computed in NumPy and kept in modules that are typed for JAX.

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh, solve_triangular
from scipy.optimize import OptimizeResult, minimize_scalar

from gfsvi.data import Data
from gfsvi.inference.conjugate import (
    Interpolation,
    Sums,
    posterior_of,
    solved,
    sums_over_rows,
)
from gfsvi.inference.evidence import targets_of
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.values import Marginals

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
SMALLEST_NOISE, LARGEST_NOISE = 1e-3, 3.0
MAX_ROWS = 2000
"""More rows than this are not needed to choose noise and step."""
NUM_ROUNDS = 20
SMALLEST_CURVATURE = 1e-8


class Choice(NamedTuple):
    """A noise level, the step of the mean, and the mean log density of rows left out with them."""

    noise: float
    step: float
    log_density: float


def conjugate_posterior(
    interpolation: Interpolation, model: Model, data: Data, *, step: float = 1.0
) -> Model:
    """The posterior under a likelihood that is Gaussian on some scale, with its noise as given."""
    sums = sums_over_rows(interpolation, data.x, targets_of(model, data))
    posterior = posterior_of(interpolation, solved(interpolation, sums), step=step)
    return Model(posterior, model.likelihood)


def with_chosen_noise(
    interpolation: Interpolation, model: Model, data: Data
) -> tuple[Model, float]:
    """The model with the noise under which rows left out are most probable, and the mean's step."""
    choices = left_out_choices(interpolation, model, data)
    noise = np.array([choice.noise for choice in choices])
    likelihood = dataclasses.replace(model.likelihood, noise=noise)
    step = float(np.mean([choice.step for choice in choices]))
    return Model(model.function, likelihood), step


def left_out_choices(interpolation: Interpolation, model: Model, data: Data) -> list[Choice]:
    """For each output, the noise and step under which rows that are left out are most probable.

    All rows decide on the posterior, and up to `MAX_ROWS` of them are left out.
    """
    values = np.asarray(targets_of(model, Data(data.x, data.y)).values)
    ones = np.broadcast_to(1 / np.asarray(data.row_weights), values.shape)
    sums = sums_over_rows(interpolation, data.x, GaussianTargets(values, ones))
    few = data.thinned(MAX_ROWS)
    f, weights = interpolation.rows(np.asarray(few.x))
    y = np.asarray(targets_of(model, Data(few.x, few.y)).values)
    counts = np.asarray(few.row_weights)
    left = _left_of_prior(interpolation, np.asarray(few.x, np.float64))
    return [
        _LeftOut.of(interpolation, sums, o, weights[o], y[o] - f[o], counts, left).best()
        for o in range(len(f))
    ]


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

    def log_density(self, noise: float, step: float) -> float:
        """The mean log density of rows, each left out."""
        variance = noise**2
        shrunk = 1 + self.eigenvalues / variance
        spread = np.square(self.axes) @ (1 / shrunk)
        kept = 1 - np.minimum(self.counts * spread / variance, 1 - 1e-6)
        moved = self.to_prior + self.axes @ (self.pull / variance / shrunk)
        residual = (self.residual - step * moved) / kept
        total = spread / kept + self.left + variance
        density = -0.5 * (np.log(2 * np.pi * total) + residual**2 / total)
        return float(np.average(density, weights=self.counts))

    def best(self) -> Choice:
        """The best of a search over noise for each step."""
        bounds = (np.log(SMALLEST_NOISE), np.log(LARGEST_NOISE))
        found = []
        for step in STEPS:
            result: OptimizeResult = minimize_scalar(
                lambda log_noise, step=step: -self.log_density(np.exp(log_noise), step),
                bounds=bounds,
                method="bounded",
            )
            noise, loss = float(np.exp(result["x"])), float(result["fun"])
            found.append(Choice(noise, step, -loss))
        return max(found, key=lambda choice: choice.log_density)


def natural_gradient_posterior(
    interpolation: Interpolation, prior: Model, data: Data, *, num_rounds: int = NUM_ROUNDS
) -> Model:
    """The posterior under any likelihood, by rounds of Gaussian regressions."""
    f, weights = interpolation.rows(np.asarray(data.x))
    left = _left_of_prior(interpolation, np.asarray(data.x, np.float64))
    targets = _pseudo_targets(prior.likelihood, data, f, np.full_like(f, 0.1))
    solution = solved(interpolation, sums_over_rows(interpolation, data.x, targets))
    for number in range(num_rounds):
        mean = f + np.einsum("onm,om->on", weights, solution.shift)
        variance = np.sum((weights @ solution.root) ** 2, axis=-1) + left
        fresh = _pseudo_targets(prior.likelihood, data, mean, variance)
        targets = _between(targets, fresh, 1.0 if number < num_rounds // 2 else 0.5)
        solution = solved(interpolation, sums_over_rows(interpolation, data.x, targets))
    return Model(posterior_of(interpolation, solution), prior.likelihood)


def _pseudo_targets(
    likelihood: AbstractLikelihood, data: Data, mean: np.ndarray, variance: np.ndarray
) -> GaussianTargets:
    """The Gaussian regression with the expected slope and curvature of the likelihood."""
    slope, curvature = map(np.asarray, _expected_slopes(likelihood, data, mean, variance))
    curvature = np.maximum(curvature, SMALLEST_CURVATURE)
    return GaussianTargets(mean + slope / curvature, 1 / curvature)


def _between(old: GaussianTargets, new: GaussianTargets, share: float) -> GaussianTargets:
    """A share of the way in natural parameters."""
    precision = (1 - share) / old.variance + share / new.variance
    pull = (1 - share) * old.values / old.variance + share * new.values / new.variance
    return GaussianTargets(pull / precision, 1 / precision)


@eqx.filter_jit
def _expected_slopes(
    likelihood: AbstractLikelihood, data: Data, mean: Array, variance: Array
) -> tuple[Array, Array]:
    """E[d log p / df] and -E[d^2 log p / df^2], by the theorems of Bonnet and Price."""

    def expected(mean: Array, variance: Array) -> Array:
        values = Marginals(mean, variance.T[:, :, None] * jnp.eye(len(mean)))
        key = jax.random.key(0)
        return data.total(likelihood.expected_log_prob(data.y, values, key=key))

    slope, half = jax.grad(expected, argnums=(0, 1))(jnp.asarray(mean), jnp.asarray(variance))
    return slope, -2 * half


def _left_of_prior(interpolation: Interpolation, x: np.ndarray) -> np.ndarray:
    """The prior's variance at rows that its values at the points leave open."""
    cross, variance = map(np.asarray, _prior_at(interpolation, x))
    explained = solve_triangular(interpolation.prior_factor, cross, lower=True)
    return np.maximum(variance - np.sum(explained**2, axis=0), 0)


def _prior_at(interpolation: Interpolation, x: np.ndarray) -> tuple[Array, Array]:
    kernel = interpolation.prior.kernel
    return kernel.cross(jnp.asarray(interpolation.points), jnp.asarray(x)), kernel.diagonal(
        jnp.asarray(x)
    )
