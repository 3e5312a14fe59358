"""Divergences between the Gaussian values of two random functions."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.covariances.base import AbstractIndependent
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.networks.jacobian import as_matrix
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, inverse_from_cholesky, solve_lower
from gfsvi.numerics.precision import double
from gfsvi.values import Gaussian


class Divergence(NamedTuple):
    """A divergence, and the smallest Cholesky pivot in its computation."""

    value: Float[Array, ""]
    smallest_pivot: Float[Array, ""]


@double
def kl(q: Gaussian, p: Gaussian) -> Float[Array, ""]:
    """KL(q || p), summed over independent outputs."""
    return regularized_divergence(q, p, gamma=0.0).value


@double
def regularized_kl(q: Gaussian, p: Gaussian, *, gamma: float) -> Float[Array, ""]:
    """The paper's estimator of the regularised KL: the KL between q and p with gamma M I added.

    Finite for any two Gaussians of the same shape if gamma is positive, and non-negative term by
    term.
    """
    return regularized_divergence(q, p, gamma=gamma).value


@double
def regularized_divergence(q: Gaussian, p: Gaussian, *, gamma: float) -> Divergence:
    """`regularized_kl` together with the smallest pivot, for diagnosis."""
    if jnp.shape(q.mean) != jnp.shape(p.mean):
        raise ValueError(
            "a divergence compares Gaussians at the same points and outputs; "
            f"got means {jnp.shape(q.mean)} and {jnp.shape(p.mean)} (output, point). "
            "Evaluate both at the same points."
        )
    added = jnp.asarray(gamma, jnp.float64) * q.mean.shape[-1]
    residual = jnp.asarray(q.mean, jnp.float64) - jnp.asarray(p.mean, jnp.float64)
    cov_q = add_to_diagonal(jnp.asarray(q.cov, jnp.float64), added)
    cov_p = add_to_diagonal(jnp.asarray(p.cov, jnp.float64), added)
    return Divergence(*_normal_kl(residual, cov_q, cov_p, added))


@double
def weight_kl(
    q: BayesianNetwork, p: BayesianNetwork, *, learn_scale: bool = False
) -> Float[Array, ""]:
    """KL between two Gaussians over the same independent weights, in closed form.

    With `learn_scale`, the prior has the standard deviation per layer that minimises it.
    """
    means = [map(as_matrix, jax.tree.leaves(function.params)) for function in (q, p)]
    stds = [_stds(function) for function in (q, p)]
    terms = []
    for mean_q, mean_p, std_q, std_p in zip(*means, *stds, strict=True):
        second_moment = jnp.square(std_q) + jnp.square(mean_q - mean_p)
        if learn_scale:
            std_p = jnp.sqrt(jnp.mean(second_moment))
        ratio = second_moment / jnp.square(std_p)
        log_ratio = jnp.log(std_p) - jnp.log(std_q)
        terms.append(jnp.sum(jnp.asarray(log_ratio + 0.5 * (ratio - 1), jnp.float64)))
    return jnp.sum(jnp.stack(terms))


def _stds(function: BayesianNetwork) -> tuple[Float[Array, "row column"], ...]:
    if not isinstance(function.covariance, AbstractIndependent):
        raise TypeError(
            "weight_kl expects independent weights; got the covariance "
            f"{type(function.covariance).__name__}. Use Diagonal() or Isotropic()."
        )
    return function.covariance.stds(function.state, function.params)


@jax.custom_vjp
def _normal_kl(residual: Array, cov_q: Array, cov_p: Array, floor: Array) -> tuple[Array, Array]:
    return _normal_kl_forward(residual, cov_q, cov_p, floor)[0]


@double
def _normal_kl_forward(
    residual: Array, cov_q: Array, cov_p: Array, floor: Array
) -> tuple[tuple[Array, Array], tuple[Array, ...]]:
    """With W = L_p^{-1} L_q lower triangular, every term of the sum is non-negative:

    KL = 1/2 [ sum_i (W_ii^2 - 1 - log W_ii^2) + sum_{i>j} W_ij^2 + |L_p^{-1} residual|^2 ].
    """
    factor_q, factor_p = cholesky(cov_q, floor), cholesky(cov_p, floor)
    whitened = solve_lower(factor_p, factor_q)
    white_residual = solve_lower(factor_p, residual[..., None])[..., 0]
    pivots_q = jnp.diagonal(factor_q, axis1=-2, axis2=-1)
    pivots_p = jnp.diagonal(factor_p, axis1=-2, axis2=-1)
    excess = (pivots_q / pivots_p) ** 2 - 1
    spread = jnp.sum(jnp.maximum(excess - jnp.log1p(excess), 0))
    outputs = residual.shape[0] / whitened.shape[0]
    value = outputs * (spread + jnp.sum(jnp.tril(whitened, -1) ** 2)) + jnp.sum(white_residual**2)
    pivot = jnp.minimum(jnp.min(pivots_q), jnp.min(pivots_p)) ** 2
    return (0.5 * value, pivot), (factor_q, factor_p, whitened, white_residual)


@double
def _normal_kl_backward(
    saved: tuple[Array, ...], cotangents: tuple[Array, Array]
) -> tuple[Array, Array, Array, None]:
    factor_q, factor_p, whitened, white_residual = saved
    num_outputs = white_residual.shape[0]
    weights = solve_lower(factor_p, white_residual[..., None], transpose=True)
    precision_q, precision_p = inverse_from_cholesky(factor_q), inverse_from_cholesky(factor_p)
    # dD/dSigma_q = (Sigma_p^{-1} - Sigma_q^{-1}) / 2
    grad_q = 0.5 * (precision_p - precision_q)
    # dD/dSigma_p = (Sigma_p^{-1} - Sigma_p^{-1} (Sigma_q + r r^T) Sigma_p^{-1}) / 2
    root = solve_lower(factor_p, whitened, transpose=True)
    outer = weights @ jnp.swapaxes(weights, -1, -2)
    grad_p = 0.5 * (precision_p - root @ jnp.swapaxes(root, -1, -2) - outer)
    cotangent = cotangents[0]
    grad_q = _sum_to(grad_q * jnp.ones((num_outputs, 1, 1)), factor_q.shape)
    grad_p = _sum_to(grad_p * jnp.ones((num_outputs, 1, 1)), factor_p.shape)
    return cotangent * weights[..., 0], cotangent * grad_q, cotangent * grad_p, None


def _sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    shared = shape[0] == 1 and gradient.shape[0] > 1
    return jnp.sum(gradient, axis=0, keepdims=True) if shared else gradient


_normal_kl.defvjp(_normal_kl_forward, _normal_kl_backward)


class Bound(NamedTuple):
    """Uniform bounds on one Gaussian process: |mean| <= mean, k(x, x) <= variance."""

    mean: float
    variance: float


def error_bound(q: Bound, p: Bound, *, gamma: float, num_points: int, delta: float = 0.05) -> float:
    """Bound on the error of the estimator at `num_points` points, with probability 1 - delta.

    Theorem 45 of Quang (2022) as given in the paper's appendix; it assumes nothing about spectral
    decay and is therefore far from tight for smooth kernels.
    """
    if not (gamma > 0 and num_points > 0 and 0 < delta < 1):
        raise ValueError(
            "error_bound expects gamma > 0, num_points > 0 and 0 < delta < 1; "
            f"got gamma={gamma}, num_points={num_points}, delta={delta}. Change the one outside."
        )

    def concentration(constant: float) -> float:
        ratio = 2 * math.log(constant / delta) / num_points
        return ratio + math.sqrt(ratio)

    of_means = (q.mean + p.mean) ** 2 * (1 + p.variance / gamma) ** 2 / (2 * gamma)
    of_covariances = (
        q.variance**2 + p.variance**2 + q.variance * p.variance * (2 + p.variance / gamma)
    ) / (2 * gamma**2)
    return of_means * concentration(48) + of_covariances * concentration(12)
