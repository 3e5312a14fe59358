"""The score of a distribution known only by samples (Shi, Sun and Zhu 2018)."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.numerics.precision import double

Samples = Float[Array, "sample dimension"]


@double
def estimated_score(samples: Samples, *, share: float = 0.99, ridge: float = 0.0) -> Samples:
    """The gradient of the log density at each sample, by the spectral Stein estimator.

    It uses the eigenfunctions of an RBF kernel that make up a `share` of its spectrum, with one
    width per dimension: the median distance times the square root of the number of dimensions
    (Sun et al. 2019).
    """
    samples = jnp.asarray(samples, jnp.float64)
    num_samples = len(samples)
    width = _widths(samples)
    scaled = samples / width
    gram = _rbf_gram(scaled)
    eigenvalues, vectors = jnp.linalg.eigh(gram + ridge * jnp.eye(num_samples))
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    # The number to keep depends on the samples, so the others are masked instead of removed.
    explained = jnp.cumsum(eigenvalues) / jnp.sum(eigenvalues)
    kept = (explained < share).at[0].set(True)
    inverse = jnp.where(kept, 1 / jnp.where(kept, eigenvalues, 1.0), 0.0)
    # psi_j(s_i) = sqrt(k) / lambda_j sum_n G(s_i, s_n) u_nj
    functions = jnp.sqrt(num_samples) * (gram @ vectors) * inverse
    # beta_j = -mean_i grad psi_j(s_i), with grad_i G(s_i, s_n) = -G_in (s_i - s_n) / width^2
    gradient = (jnp.sum(gram, axis=0)[:, None] * scaled - gram @ scaled) / (num_samples * width)
    slopes = -jnp.sqrt(num_samples) * inverse[:, None] * (vectors.T @ gradient)
    return functions @ slopes


def _rbf_gram(scaled: Samples) -> Float[Array, "sample sample"]:
    squares = jnp.sum(scaled**2, axis=1)
    return jnp.exp(-0.5 * jnp.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0))


def _widths(samples: Samples) -> Float[Array, " dimension"]:
    # Ten neighbours in the order of drawing represent all pairs, which would take seconds to sort.
    lags = range(1, min(11, len(samples)))
    distances = [jnp.abs(samples - jnp.roll(samples, lag, axis=0)) for lag in lags]
    median = jnp.median(jnp.concatenate(distances), axis=0)
    width = median * jnp.sqrt(samples.shape[1])
    return jnp.where(width < 1e-6, width + 1, width)
