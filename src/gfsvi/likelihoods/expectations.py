"""Expectations of a log-likelihood over the values of a random function."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.linalg import plain_cholesky, solve_lower
from gfsvi.predictives.base import FunctionDraws
from gfsvi.predictives.base import FunctionValues as FunctionValues
from gfsvi.values import AbstractValues, Marginals, Samples


def expectation_by_quadrature(
    log_prob: Callable[[FunctionValues], Array], values: AbstractValues, num_nodes: int = 100
) -> Array:
    """E[log_prob(f)] where each point's log_prob is a sum over outputs, by a sum over nodes.

    Even nodes are as exact as Gauss-Hermite's for smooth functions and denser where f is likely,
    which a log_prob much narrower than the distribution of f needs.
    """
    if isinstance(values, Samples):
        return mean_over_draws(log_prob, values)
    nodes = np.linspace(-7, 7, num_nodes)
    weights = np.exp(-(nodes**2) / 2)
    std = _std(values)
    at_nodes = jax.vmap(lambda node: log_prob(values.mean + node * std))(
        jnp.asarray(nodes, std.dtype)
    )
    return jnp.tensordot(jnp.asarray(weights / weights.sum(), at_nodes.dtype), at_nodes, axes=1)


def expectation_by_sampling(
    log_prob: Callable[[FunctionValues], Array],
    values: AbstractValues,
    *,
    key: PRNGKeyArray,
    num_samples: int = 16,
) -> Array:
    """E[log_prob(f)] by draws of the function's values, outputs coupled as they are."""
    if isinstance(values, Samples):
        return mean_over_draws(log_prob, values)
    draws = _antithetic_draws(values, num_samples, key)
    return jnp.mean(jax.vmap(log_prob)(draws), axis=0)


def mean_over_draws(log_prob: Callable[[FunctionValues], Array], values: Samples) -> Array:
    """E[log_prob(f)] where the function is known by equally likely draws."""
    return jnp.mean(jax.vmap(log_prob)(values.draws), axis=0)


def marginal_draws(
    values: AbstractValues, num_samples: int = 256, *, key: PRNGKeyArray
) -> FunctionDraws:
    """Equally likely values that stand for the function at each point on its own.

    One Gaussian output needs no randomness: evenly spread quantiles are far closer to it.
    """
    if isinstance(values, Samples):
        return values.draws
    if len(values.mean) > 1:
        return _antithetic_draws(values, num_samples, key)
    nodes = norm.ppf((jnp.arange(num_samples, dtype=values.mean.dtype) + 0.5) / num_samples)
    nodes = nodes / jnp.maximum(jnp.std(nodes), jnp.finfo(nodes.dtype).tiny)
    return values.mean + nodes[:, None, None] * _std(values)


def _antithetic_draws(values: AbstractValues, num_samples: int, key: PRNGKeyArray) -> FunctionDraws:
    half = (num_samples + 1) // 2
    # The same numbers at every point, so that no point depends on which others are asked about.
    noise = _standardized(jax.random.normal(key, (half, len(values.mean)), values.mean.dtype))
    if isinstance(values, Marginals):
        draws = values.moved_alike(noise)
    else:  # independent outputs: at each point alone, no Cholesky factor is needed
        draws = values.mean + noise[:, :, None] * _std(values)
    # A Gaussian is symmetric: the mirrored draws are as likely and make the mean exact.
    return jnp.concatenate([draws, 2 * values.mean - draws])[:num_samples]


def _standardized(noise: Float[Array, "sample output"]) -> Float[Array, "sample output"]:
    """The draws, made to have the covariance that they are drawn with, if they are enough."""
    num_samples, num_outputs = noise.shape
    if num_samples <= 2 * num_outputs:
        return noise
    factor = plain_cholesky(noise.T @ noise / num_samples)
    return solve_lower(factor[None], noise.T[None])[0].T


def _std(values: AbstractValues) -> FunctionValues:
    # Bounded away from zero, where the root has no derivative.
    variance = values.variance
    return jnp.sqrt(jnp.maximum(variance, jnp.finfo(variance.dtype).tiny))
