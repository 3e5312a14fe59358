"""Fit the closed-form posterior to data, under any likelihood.

Under a normal likelihood, after a warp or not, the posterior is conjugate and the noise is chosen
by leaving every row out in closed form. Other likelihoods are replaced, round after round, by the
Gaussian regression that has their expected slope and curvature (natural-gradient steps of length
one, damped), whose fixed point has zero gradient of the objective.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from gfsvi.data import Data
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.adaptive_fit import adaptive_posterior
from gfsvi.inference.conjugate import Interpolation, posterior_of, solved, sums_over_rows
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.left_out import choices, left_of_prior, sums_of_unit_noise
from gfsvi.inference.scatter import most_expected
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.numerics.batching import padded
from gfsvi.training.steps import Where, learnable_parts
from gfsvi.values import Marginals

NUM_ROUNDS = 20
SMALLEST_CURVATURE = 1e-8
NOISE_FIELDS = ("noise", "dispersion")
"""Parameters of likelihoods that are learned with the posterior."""


def closed_form_posterior(
    interpolation: Interpolation,
    model: Model,
    data: Data,
    *,
    learn_noise: bool,
    validation: Data | None = None,
) -> Model[ConjugateNetwork, AbstractLikelihood]:
    """The posterior of the linearised network under the prior and likelihood of `model`.

    Noise is learned by `validation` rows if they are given, else by leaving training rows out.
    """
    if not model.likelihood.solved_as_normal:
        return natural_gradient_posterior(interpolation, model, data, learn_noise=learn_noise)
    if not learn_noise:
        return conjugate_posterior(interpolation, model, data)
    sums = sums_of_unit_noise(interpolation, model, data)
    if isinstance(model.likelihood, AdaptiveNormal):
        return adaptive_posterior(interpolation, model, data, sums, held_out=validation)
    found = choices(interpolation, model, data, sums, held_out=validation)
    noise = np.array([choice.noise for choice in found])
    solution = solved(interpolation, sums.with_noise(noise, len(data)))
    likelihood = dataclasses.replace(model.likelihood, noise=noise)
    return Model(posterior_of(interpolation, solution, step=found[0].step), likelihood)


def has_learnable_noise(model: Model, fixed: Where | None) -> bool:
    """Whether the model has noise that is not among its fixed parts."""
    params, _ = learnable_parts(model, fixed)
    return any(getattr(params.likelihood, name, None) is not None for name in NOISE_FIELDS)


def conjugate_posterior(interpolation: Interpolation, model: Model, data: Data) -> Model:
    """The posterior under a likelihood that is Gaussian on some scale, with its noise as given."""
    sums = sums_over_rows(interpolation, data.x, targets_of(model, data))
    return Model(posterior_of(interpolation, solved(interpolation, sums)), model.likelihood)


def natural_gradient_posterior(
    interpolation: Interpolation,
    prior: Model,
    data: Data,
    *,
    num_rounds: int = NUM_ROUNDS,
    learn_noise: bool = False,
) -> Model:
    """The posterior under any likelihood, by rounds of Gaussian regressions.

    Noise is learned between them, as in variational expectation maximisation.
    """
    likelihood = prior.likelihood
    f, weights = interpolation.rows(np.asarray(data.x))
    left = left_of_prior(interpolation, np.asarray(data.x, np.float64))
    targets = pseudo_targets(likelihood, data, f, np.full_like(f, 0.1))
    solution = solved(interpolation, sums_over_rows(interpolation, data.x, targets))
    for number in range(num_rounds):
        mean = f + np.einsum("onm,om->on", weights, solution.shift)
        variance = np.sum((weights @ solution.root) ** 2, axis=-1) + left
        if learn_noise and 0 < number < num_rounds // 2:
            likelihood = most_expected(likelihood, data, mean, variance)
        fresh = pseudo_targets(likelihood, data, mean, variance)
        targets = between(targets, fresh, 1.0 if number < num_rounds // 2 else 0.5)
        solution = solved(interpolation, sums_over_rows(interpolation, data.x, targets))
    return Model(posterior_of(interpolation, solution), likelihood)


def pseudo_targets(
    likelihood: AbstractLikelihood, data: Data, mean: np.ndarray, variance: np.ndarray
) -> GaussianTargets:
    """The Gaussian regression with the expected slope and curvature of the likelihood."""
    y, weights = padded(np.asarray(data.y)), padded(np.asarray(data.row_weights, np.float64))
    moments = (padded(moment.T).T for moment in (mean, variance))
    found = _expected_slopes(likelihood, y, weights, *moments)
    slope, curvature = (np.asarray(part)[:, : len(data)] for part in found)
    curvature = np.maximum(curvature, SMALLEST_CURVATURE)
    return GaussianTargets(mean + slope / curvature, 1 / curvature)


def between(old: GaussianTargets, new: GaussianTargets, share: float) -> GaussianTargets:
    """A share of the way in natural parameters."""
    precision = (1 - share) / old.variance + share / new.variance
    pull = (1 - share) * old.values / old.variance + share * new.values / new.variance
    return GaussianTargets(pull / precision, 1 / precision)


@eqx.filter_jit
def _expected_slopes(
    likelihood: AbstractLikelihood, y: Array, weights: Array, mean: Array, variance: Array
) -> tuple[Array, Array]:
    """E[d log p / df] and -E[d^2 log p / df^2], by the theorems of Bonnet and Price.

    Rows do not affect each other, so that copies of the last one may be added.
    """

    def expected(mean: Array, variance: Array) -> Array:
        values = Marginals(mean, variance.T[:, :, None] * jnp.eye(len(mean)))
        key = jax.random.key(0)
        return jnp.sum(weights * likelihood.expected_log_prob(y, values, key=key))

    slope, half = jax.grad(expected, argnums=(0, 1))(jnp.asarray(mean), jnp.asarray(variance))
    return slope, -2 * half
