"""Every likelihood, observations that it accepts, and values of a function to try it with."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np

import gfsvi.likelihoods
from gfsvi.likelihoods import CustomLikelihood
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.values import AbstractValues, Gaussian, Marginals, Samples

NUM_POINTS = 5
# Whichever a likelihood's own check accepts first.
OBSERVATIONS = [np.array([0, 1, 2, 1, 0]), np.array([0, 1, 1, 0, 1]), np.linspace(0.1, 0.9, 5)]


def laplace_density(y: jax.Array, f: jax.Array) -> jax.Array:
    return -jnp.abs(y - f[0]) / 0.3 - jnp.log(0.6)


NEEDS_ARGUMENTS = {CustomLikelihood: lambda: CustomLikelihood(laplace_density)}
CLASSES = [
    member
    for _, member in inspect.getmembers(gfsvi.likelihoods, inspect.isclass)
    if issubclass(member, AbstractLikelihood) and not inspect.isabstract(member)
]


def built(member: type[AbstractLikelihood]) -> AbstractLikelihood:
    return NEEDS_ARGUMENTS.get(member, member)()


def observations_for(likelihood: AbstractLikelihood) -> np.ndarray:
    for candidate in OBSERVATIONS:
        try:
            likelihood.check(candidate)
        except ValueError:
            continue
        return candidate
    raise AssertionError(f"{type(likelihood).__name__} accepts none of {OBSERVATIONS}")


def marginals(num_outputs: int) -> Marginals:
    random = np.random.default_rng(1)
    root = 0.4 * random.standard_normal((NUM_POINTS, num_outputs, num_outputs))
    cov = root @ np.swapaxes(root, 1, 2) + 0.05 * np.eye(num_outputs)
    return Marginals(jnp.asarray(0.5 * random.standard_normal((num_outputs, NUM_POINTS))), cov)


def gaussian(num_outputs: int) -> Gaussian:
    grid = np.linspace(0, 1, NUM_POINTS)
    cov = 0.3 * np.exp(-np.square(grid[:, None] - grid)) + 1e-6 * np.eye(NUM_POINTS)
    scales = np.arange(1, num_outputs + 1)[:, None, None] / num_outputs
    return Gaussian(marginals(num_outputs).mean, jnp.asarray(scales * cov))


def samples(num_outputs: int) -> Samples:
    draws = np.random.default_rng(2).gamma(2.0, 0.5, (7, num_outputs, NUM_POINTS))
    return Samples(jnp.asarray(draws))


def many_draws(values: AbstractValues, count: int) -> jax.Array:
    """Draws at each point by NumPy, independent of the library's own sampling."""
    if isinstance(values, Samples):
        return values.draws
    random, mean = np.random.default_rng(3), np.asarray(values.mean)
    if isinstance(values, Marginals):
        factor = np.linalg.cholesky(np.asarray(values.cov))
        noise = random.standard_normal((count, NUM_POINTS, len(mean)))
        return jnp.asarray(mean + np.einsum("pij,spj->sip", factor, noise))
    noise = random.standard_normal((count, *mean.shape))
    return jnp.asarray(mean + np.sqrt(np.asarray(values.variance)) * noise)
