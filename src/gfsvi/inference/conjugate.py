"""The posterior of a linearised network in closed form.

Given the weights at which a network is linearised, the regularised objective has its maximum over
Gaussians in closed form. With measurement points Z, the regularised prior K_g = L L^T there, the
tangent kernel T and W(x) what interpolates values at Z, these have the covariance
C = L (I + L^T G L)^-1 L^T, G = sum_i W(x_i)^T W(x_i) / s_i^2. Data enter through sums over rows
alone, so that rows never have to be together.

W(x) = T(x, Z) P + K(x, Z) K_g^-1 (I - T(Z, Z) P) with P = (T(Z, Z) + eps I)^-1: through the
network as far as it can follow, and what that leaves at Z through the prior. So W is the identity
at Z, and with the rows among the points the posterior there is the exact one.
"""

# pyright: reportArgumentType=false
# Factors are computed in NumPy and kept in modules that are typed for JAX.

import dataclasses
from collections.abc import Callable
from typing import NamedTuple, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_solve, eigh, solve_triangular
from scipy.linalg import cholesky as lapack_cholesky

from gfsvi.covariances.closed_form import EPS
from gfsvi.data import Data, Rows
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.tangents import AbstractTangents, LastLayerTangents, Tangents
from gfsvi.inference.evaluation import Evaluation, evaluation_of
from gfsvi.inference.on_devices import sums_on
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.in_numpy import is_in_numpy
from gfsvi.networks.layered import AbstractLayeredNetwork
from gfsvi.networks.layers import Convolution, Dense
from gfsvi.numerics.devices import mesh_of_process
from gfsvi.numerics.types import Points

BLOCK = 4096
MANY_OUTPUTS = 30
"""With more outputs, the network is linearised in its last layer alone."""
LOG_OF_NOTHING = -100.0
"""The logarithm of the standard deviation of weights that do not count."""

Matrix = Float[np.ndarray, "point point"]


class Interpolation(NamedTuple):
    """The network and the prior at the measurement points."""

    tangents: AbstractTangents
    prior: GaussianProcess
    evaluation: Evaluation
    points: np.ndarray
    values: Float[np.ndarray, "output point"]
    prior_mean: Float[np.ndarray, "output point"]
    prior_factor: Matrix
    tangent_factors: tuple[Matrix, ...]
    eps: tuple[float, ...]

    @classmethod
    def at(
        cls,
        tangents: AbstractTangents,
        prior: GaussianProcess,
        points: Points,
        *,
        gamma: float,
        eps: float = EPS,
        evaluation: Evaluation | None = None,
    ) -> "Interpolation":
        """Factorise both kernels at the points, by an evaluation of both if it is given."""
        points = np.asarray(points, np.float64)
        evaluation = evaluation or evaluation_of(tangents, prior, points)
        values, gram, mean, cov = evaluation.at_points()
        added = tuple(float(eps * np.mean(np.diagonal(t))) for t in gram)
        factors = [factor_of(t + a * np.eye(len(t))) for t, a in zip(gram, added, strict=True)]
        factor = factor_of(cov + gamma * len(points) * np.eye(len(points)))
        shared = tuple(factors), added
        return cls(tangents, prior, evaluation, points, values, mean, factor, *shared)

    def rows(self, x: Points) -> tuple[np.ndarray, np.ndarray]:
        """The network at rows, and W there: (output, row) and (output, row, point)."""
        f, cross, prior = self.evaluation.at_rows(np.asarray(x))
        through_prior = cho_solve((self.prior_factor, True), prior.T).T
        pairs = zip(self.tangent_factors, self.eps, cross, strict=True)
        # I - T P = eps P
        weights = [cho_solve((c, True), (t + e * through_prior).T).T for c, e, t in pairs]
        return f, np.broadcast_to(np.stack(weights), (len(f), *weights[0].shape))

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """(T(Z, Z) + eps I)^-1 times values at the points, for each output."""
        factors = self.tangent_factors * (len(values) // len(self.tangent_factors))
        pairs = zip(factors, values, strict=True)
        return np.stack([cho_solve((c, True), v) for c, v in pairs])


class Sums(NamedTuple):
    """All that the data say about the values at the points: sums over rows that add up.

    `precision` is sum_i W_i^T W_i / s_i^2, `pull` sum_i W_i^T (y_i - f_i) / s_i^2, both for each
    output, like `square`, sum_i (y_i - f_i)^2 / s_i^2, and `log_variance`, sum_i log(2 pi s_i^2).
    """

    precision: Float[np.ndarray, "output point point"]
    pull: Float[np.ndarray, "output point"]
    square: Float[np.ndarray, " output"]
    log_variance: Float[np.ndarray, " output"]

    def with_noise(self, noise: Float[np.ndarray, " output"], num_rows: int) -> "Sums":
        """The sums for targets whose standard deviations are so many times those of these sums."""
        factor = 1 / noise**2
        return Sums(
            factor[:, None, None] * self.precision,
            factor[:, None] * self.pull,
            factor * self.square,
            self.log_variance + 2 * num_rows * np.log(noise),
        )

    def __add__(self, other: "Sums") -> "Sums":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Sums(*(mine + others for mine, others in zip(self, other, strict=True)))


def sums_over_rows(
    interpolation: Interpolation, x: Points, targets: GaussianTargets, *, block: int = BLOCK
) -> Sums:
    """Add up what the rows say, block by block."""
    starts = range(0, len(x), block)
    total = None
    for start in starts:
        rows = slice(start, start + block)
        values, variance = (np.asarray(part)[:, rows] for part in targets[:2])
        of_block = sums_of(*interpolation.rows(np.asarray(x[rows])), values, variance)
        total = of_block if total is None else total + of_block
    if total is None:
        raise ValueError("expected rows to learn from; got none.")
    return total


def sums_over(
    interpolation: Interpolation,
    rows: Rows,
    targets: Callable[[Data], GaussianTargets],
    *,
    block: int = BLOCK,
) -> Sums:
    """Add up what rows say, wherever they are; `targets` are those of a block of them."""

    def of_block(data: Data) -> Sums:
        found = targets(data)
        values, variance = np.asarray(found.values), np.asarray(found.variance)
        return sums_at(interpolation, np.asarray(data.x), values, variance)

    return rows.added(of_block, block)


def sums_at(
    interpolation: Interpolation, x: np.ndarray, y: np.ndarray, variance: np.ndarray
) -> Sums:
    """Add up what rows say: by JAX on accelerators or several devices, or else in NumPy."""
    mesh = mesh_of_process() if x.ndim == 2 else None
    if mesh is None:
        return sums_of(*interpolation.rows(x), y, variance)
    variance = np.broadcast_to(variance, y.shape)
    found = sums_on(mesh, interpolation, x, y, 1 / variance)
    return Sums(*found, np.sum(np.log(2 * np.pi * variance), axis=1))


def sums_of(f: np.ndarray, weights: np.ndarray, y: np.ndarray, variance: np.ndarray) -> Sums:
    """Add up what rows say at which the network is f and what interpolates there `weights`."""
    residual = y - f
    # Output by output, which takes the memory of one; of a matrix and its transpose, NumPy
    # computes one half.
    pairs = zip(weights, variance, strict=True)
    precision = [scaled.T @ scaled for scaled in (w / np.sqrt(v)[:, None] for w, v in pairs)]
    pairs = zip(weights, residual / variance, strict=True)
    return Sums(
        np.stack(precision),
        np.stack([r @ w for w, r in pairs]),
        np.sum(residual**2 / variance, axis=1),
        np.sum(np.log(2 * np.pi * variance), axis=1),
    )


class Solution(NamedTuple):
    """The maximum of the objective: for each output, the values at the points.

    `shift` is their mean less the network's values, `root` a root of their covariance C, and
    `log_evidence` log N(y; f + W (prior mean - f_Z), W K_g W^T + noise), over all outputs.
    """

    shift: Float[np.ndarray, "output point"]
    root: Float[np.ndarray, "output point point"]
    log_evidence: float


def solved(interpolation: Interpolation, sums: Sums) -> Solution:
    """The conjugate posterior at the points."""
    factor = interpolation.prior_factor
    distance = interpolation.prior_mean - interpolation.values
    shifts, roots, evidence = [], [], -0.5 * float(np.sum(sums.square + sums.log_variance))
    for precision, pull, d in zip(sums.precision, sums.pull, distance, strict=True):
        inner = factor.T @ precision @ factor
        half = factor_of(inner + np.eye(len(inner)))
        # The pull of the data on values that begin at the prior mean.
        white = factor.T @ (pull - precision @ d)
        solved_white = cho_solve((half, True), white)
        shifts.append(d + factor @ solved_white)
        roots.append(solve_triangular(half, factor.T, lower=True).T)
        # Determinant and inversion lemmas, with the residual y - f - W d.
        evidence += -np.sum(np.log(np.diagonal(half)))
        evidence += d @ pull - 0.5 * d @ precision @ d + 0.5 * white @ solved_white
    return Solution(np.stack(shifts), np.stack(roots), float(evidence))


def posterior_of(
    interpolation: Interpolation,
    solution: Solution,
    *,
    step: float = 1.0,
    temperature: float = 1.0,
    near: float = 1.0,
) -> ConjugateNetwork:
    """The posterior everywhere, its mean moved `step` of the way from the network's.

    Its covariance is multiplied by the temperature, as if prior and likelihood were raised to the
    power of one over it. `near` is as in `ConjugateNetwork`.
    """
    size, prior, scale = len(interpolation.points), interpolation.prior, np.sqrt(temperature)
    whitener = solve_triangular(interpolation.prior_factor, np.eye(size), lower=True)
    if temperature != 1:
        prior = dataclasses.replace(prior, kernel=temperature * prior.kernel)
    return ConjugateNetwork(
        interpolation.tangents,
        prior,
        interpolation.points,
        interpolation.coefficients(step * solution.shift),
        interpolation.coefficients(scale * solution.root),
        np.resize(interpolation.eps, len(solution.shift)),
        whitener / scale,
        near,
    )


def tangents_of(network: AbstractNetwork, params: Params, num_outputs: int = 1) -> AbstractTangents:
    """The tangent kernel of a network at its weights, all weights alike.

    With many outputs, and after convolutions, only those of the last layer count, in which all
    outputs are alike, so that one factorisation serves all of them.
    """
    if _ends_dense_after_convolutions(network):
        return LastLayerTangents(network, params)
    leaves = jax.tree.leaves(params)
    log_scales = [jnp.zeros(()) for _ in leaves]
    if num_outputs > MANY_OUTPUTS and is_in_numpy(network):
        log_scales[:-1] = [jnp.full((), LOG_OF_NOTHING) for _ in leaves[:-1]]
    return Tangents(network, params, tuple(log_scales))


def _ends_dense_after_convolutions(network: AbstractNetwork) -> TypeGuard[AbstractLayeredNetwork]:
    if not isinstance(network, AbstractLayeredNetwork):
        return False
    *before, last = network.stages
    return isinstance(last, Dense) and any(isinstance(stage, Convolution) for stage in before)


def factor_of(matrix: np.ndarray) -> np.ndarray:
    """A lower factor, also of a matrix that rounding has made indefinite."""
    try:
        return lapack_cholesky(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix)
        floor = np.finfo(np.float64).eps * len(matrix) * np.abs(values).max()
        root = np.sqrt(np.maximum(values, floor))[:, None] * vectors.T
        return np.asarray(np.linalg.qr(root, mode="r")).T
