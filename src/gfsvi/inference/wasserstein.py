"""The Wasserstein distance between two random functions at measurement points."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.numerics.linalg import add_to_diagonal, cholesky, map_in_chunks
from gfsvi.values import Gaussian

JITTER = 1e-8


def squared_wasserstein(first: Gaussian, second: Gaussian) -> Float[Array, ""]:
    """Squared 2-Wasserstein distance of Gaussian measures on L2, estimated at n points.

    mean (m - m')^2 + (tr R + tr K) / n - (2 / n) |L_R^T L_K|_nuclear, summed over outputs: the
    eigenvalues of R K are the squared singular values of L_R^T L_K.
    """
    num_outputs, num_points = first.mean.shape
    covs = [jnp.broadcast_to(v.cov, (num_outputs, num_points, num_points)) for v in (first, second)]
    factors = [cholesky(_lifted(cov)) for cov in covs]
    overlap = map_in_chunks(_singular_values, jnp.swapaxes(factors[0], -1, -2) @ factors[1])
    traces = jnp.sum(first.variance) + jnp.sum(second.variance)
    bias = jnp.sum((first.mean - second.mean) ** 2)
    return (bias + traces - 2 * jnp.sum(overlap)) / num_points


def _singular_values(matrix: Float[Array, "output n n"]) -> Float[Array, "output n"]:
    return jnp.linalg.svd(matrix, compute_uv=False)


def _lifted(cov: Float[Array, "output n n"]) -> Float[Array, "output n n"]:
    size = jnp.mean(jnp.diagonal(cov, axis1=-2, axis2=-1), axis=-1, keepdims=True)
    return add_to_diagonal(cov, JITTER * size + jnp.finfo(cov.dtype).tiny)
