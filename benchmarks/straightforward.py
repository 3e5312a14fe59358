"""A straightforward implementation of GFSVI's objective: the baseline of the step benchmark.

It materialises per-example Jacobians and differentiates through Cholesky factors.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.networks.base import AbstractNetwork
from gfsvi.values import as_gaussian


def objective(
    network: AbstractNetwork,
    prior: AbstractRandomFunction,
    params: Any,
    log_std: Any,
    noise: Float[Array, ""],
    batch: tuple[Array, Array],
    points: Array,
    gamma: float,
) -> Float[Array, ""]:
    """Expected log-likelihood minus regularised KL, for one output and independent weights."""
    flat, unravel = ravel_pytree(params)
    std = ravel_pytree(log_std)[0]

    def linearized(x: Array) -> tuple[Array, Array]:
        def output(weights: Array, row: Array) -> Array:
            return network.apply(unravel(weights), row[None])[0, 0]

        mean = jax.vmap(output, (None, 0))(flat, x)
        rows = jax.vmap(jax.grad(output), (None, 0))(flat, x)
        return mean, rows * jnp.exp(std)

    x, y = batch
    mean, rows = linearized(x)
    variance = jnp.sum(rows**2, axis=1)
    log_prob = -0.5 * jnp.log(2 * jnp.pi * noise**2) - ((y - mean) ** 2 + variance) / (2 * noise**2)
    mean, rows = linearized(points)
    rows = rows.astype(jnp.float64)
    identity = jnp.eye(len(points))
    prior_values = as_gaussian(prior.at(points))
    cov = rows @ rows.T + gamma * len(points) * identity
    prior_cov = prior_values.cov[0] + gamma * len(points) * identity
    factor, prior_factor = jnp.linalg.cholesky(cov), jnp.linalg.cholesky(prior_cov)
    white = solve_triangular(prior_factor, factor, lower=True)
    residual = solve_triangular(prior_factor, mean - prior_values.mean[0], lower=True)
    log_ratio = jnp.sum(jnp.log(jnp.diagonal(prior_factor) / jnp.diagonal(factor)))
    divergence = 0.5 * (jnp.sum(white**2) + jnp.sum(residual**2) - len(points)) + log_ratio
    return jnp.sum(log_prob) - divergence
