"""Fit the closed-form posterior to data, under any likelihood.

Under a normal likelihood, after a warp or not, the posterior is conjugate and the noise is chosen
by leaving every row out in closed form. Other likelihoods are replaced, round after round, by the
Gaussian regression that has their expected slope and curvature (natural-gradient steps of length
one, damped), whose fixed point has zero gradient of the objective.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable
from functools import partial

import numpy as np

from gfsvi.data import Data, Rows
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.adaptive_fit import adaptive_posterior
from gfsvi.inference.conjugate import (
    Interpolation,
    posterior_of,
    solved,
    sums_over,
)
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.expected_slopes import expected_slopes
from gfsvi.inference.left_out import choices, sums_of_unit_noise
from gfsvi.inference.scatter import most_expected
from gfsvi.inference.tempering import Tempering, most_probable_tempering
from gfsvi.inference.white_rows import WhiteRows, WhiteSolution, unwhitened
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.training.steps import Where, learnable_parts

NUM_ROUNDS, FEWEST_ROUNDS = 20, 4
DAMPING = 0.5
"""Of all steps: whole ones diverge under a wide prior, or go to and fro for ever."""
CONVERGED = 1e-4
"""Rounds end when no value of the function changes by more."""
MAX_ELEMENTS = 50_000_000
"""Of a matrix (output, row, point) that is kept from round to round."""
SMALLEST_CURVATURE = 1e-8
NOISE_FIELDS = ("noise", "dispersion")
"""Parameters of likelihoods that are learned with the posterior."""


def closed_form_posterior(
    interpolation: Interpolation,
    model: Model,
    rows: Rows,
    *,
    learn_noise: bool,
    validation: Data | None = None,
    stop: Callable[[], bool] | None = None,
) -> Model[ConjugateNetwork, AbstractLikelihood]:
    """The posterior of the linearised network under the prior and likelihood of `model`.

    Noise is learned by `validation` rows if they are given, else by leaving training rows out; of
    images, `validation` decides how much of the optimum to keep. `stop` is asked between rounds,
    where there are any, whether to end with what is known.
    """
    if not model.likelihood.solved_as_normal:
        held_out = validation if np.ndim(rows.sample.x) > 2 else None
        return natural_gradient_posterior(
            interpolation, model, rows, learn_noise=learn_noise, held_out=held_out, stop=stop
        )
    if not learn_noise:
        return conjugate_posterior(interpolation, model, rows)
    sums = sums_of_unit_noise(interpolation, model, rows)
    if isinstance(model.likelihood, AdaptiveNormal):
        return adaptive_posterior(interpolation, model, rows, sums, held_out=validation, stop=stop)
    found = choices(interpolation, model, rows, sums, held_out=validation)
    noise = np.array([choice.noise for choice in found])
    solution = solved(interpolation, sums.with_noise(noise, len(rows)))
    likelihood = dataclasses.replace(model.likelihood, noise=noise)
    step, near = found[0].step, found[0].near
    return Model(posterior_of(interpolation, solution, step=step, near=near), likelihood)


def has_learnable_noise(model: Model, fixed: Where | None) -> bool:
    """Whether the model has noise that is not among its fixed parts."""
    params, _ = learnable_parts(model, fixed)
    return any(getattr(params.likelihood, name, None) is not None for name in NOISE_FIELDS)


def conjugate_posterior(interpolation: Interpolation, model: Model, rows: Rows) -> Model:
    """The posterior under a likelihood that is Gaussian on some scale, with its noise as given."""
    sums = sums_over(interpolation, rows, partial(targets_of, model))
    return Model(posterior_of(interpolation, solved(interpolation, sums)), model.likelihood)


def natural_gradient_posterior(
    interpolation: Interpolation,
    prior: Model,
    data: Rows,
    *,
    num_rounds: int = NUM_ROUNDS,
    learn_noise: bool = False,
    held_out: Data | None = None,
    stop: Callable[[], bool] | None = None,
) -> Model:
    """The posterior under any likelihood, by rounds of Gaussian regressions.

    Noise is learned between them, as in variational expectation maximisation. After a few rounds
    `stop` is asked whether these have to do. Rows that are held out temper the result.
    """
    likelihood, data = prior.likelihood, _affordable(interpolation, data)
    rows = WhiteRows.at(interpolation, np.asarray(data.x, np.float64))
    mean = rows.f
    targets = pseudo_targets(likelihood, data, mean, np.full_like(mean, 0.1))
    white = rows.solved(targets)
    for number in range(num_rounds):
        if stop is not None and number >= FEWEST_ROUNDS and stop():
            break
        before, (mean, variance) = mean, rows.moments(white)
        if np.max(np.abs(mean - before)) < CONVERGED:
            break
        if learn_noise and 0 < number < num_rounds // 2:
            likelihood = most_expected(likelihood, data, mean, variance)
        fresh = pseudo_targets(likelihood, data, mean, variance)
        targets = between(targets, fresh, DAMPING)
        white = rows.solved(targets)
    tempering = _tempering(interpolation, white, likelihood, held_out)
    solution = unwhitened(interpolation, white)
    return Model(posterior_of(interpolation, solution, **tempering._asdict()), likelihood)


def _tempering(
    interpolation: Interpolation,
    solution: WhiteSolution,
    likelihood: AbstractLikelihood,
    held_out: Data | None,
) -> Tempering:
    """How much of the solution held-out rows prefer to keep: all of it, if there are none."""
    if held_out is None:
        return Tempering()
    unseen = WhiteRows.at(interpolation, np.asarray(held_out.x, np.float64))
    mean, variance = unseen.moments(solution)
    return most_probable_tempering(likelihood, held_out, unseen.f, mean - unseen.f, variance)


def _affordable(interpolation: Interpolation, rows: Rows) -> Data:
    """As many of the rows as fit into memory with what interpolates there, as heavy as all."""
    per_row = len(interpolation.tangent_factors) * len(interpolation.points)
    most = max(len(interpolation.points), MAX_ELEMENTS // per_row)
    data = rows.sample
    if len(rows) <= most and len(data) == len(rows):
        return data
    few, weights = data.thinned(most), np.asarray(data.row_weights)
    kept = np.asarray(few.row_weights)
    heavier = np.sum(weights) / np.sum(kept) * len(rows) / len(data)
    return Data(few.x, few.y, kept * heavier)


def pseudo_targets(
    likelihood: AbstractLikelihood, data: Data, mean: np.ndarray, variance: np.ndarray
) -> GaussianTargets:
    """The Gaussian regression with the expected slope and curvature of the likelihood."""
    slope, curvature = expected_slopes(likelihood, data, mean, variance)
    curvature = np.maximum(curvature, SMALLEST_CURVATURE)
    return GaussianTargets(mean + slope / curvature, 1 / curvature)


def between(old: GaussianTargets, new: GaussianTargets, share: float) -> GaussianTargets:
    """A share of the way from one regression to another, in natural parameters."""
    precision = (1 - share) / old.variance + share / new.variance
    pull = (1 - share) * old.values / old.variance + share * new.values / new.variance
    return GaussianTargets(pull / precision, 1 / precision)
