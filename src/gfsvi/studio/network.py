"""The network beside the process: its closed-form posterior, and what it can express."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from gfsvi.data import Data
from gfsvi.diagnostics import Diagnostic
from gfsvi.diagnostics.network import expressiveness, out_of_reach
from gfsvi.functions import GaussianProcess
from gfsvi.functions.base import correlation_lengths
from gfsvi.functions.tangents import Tangents
from gfsvi.inference.conjugate import (
    Interpolation,
    Sums,
    posterior_of,
    solved,
    sums_over_rows,
)
from gfsvi.inference.evaluation import InNumpy
from gfsvi.inference.quick_mean import Penalized
from gfsvi.inference.quick_steps import lbfgs
from gfsvi.inference.row_slopes import row_slopes
from gfsvi.kernels import AbstractKernel
from gfsvi.likelihoods import Normal
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.networks import MLP
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.plain.networks import TanhNetwork, random_network, tangents
from gfsvi.studio.workspace import Workspace
from gfsvi.training.optimizers import LBFGS
from gfsvi.training.settings import Training

GAMMA = 1e-10
MAX_POINTS = 50
"""Measurement points along the axis, besides the rows."""
MAX_ROWS_AS_POINTS = 300
SEED = 0


def network_posterior(
    workspace: Workspace,
    kernel: AbstractKernel,
    plain: KernelInNumpy,
    rows: np.ndarray,
    y: np.ndarray,
    x: np.ndarray,
    *,
    num_steps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance at `x` of the network's posterior in closed form.

    Args:
        workspace: Has the size of the network and the noise.
        kernel: The prior, on the standardised scale.
        plain: The same kernel in NumPy.
        rows: Standardised inputs.
        y: Standardised targets.
        x: Where the posterior is looked at.
        num_steps: Steps that the mean is trained for; with none, the closed form starts from
            random weights, which takes milliseconds.
    """
    noise = workspace.noise / workspace.scale.target_spread
    prior = GaussianProcess(kernel)
    points, places = measurement_points(rows, x)
    network = starting_network(workspace, prior, points)
    if num_steps:
        network = _trained(network, prior, points, rows, y, noise, num_steps)
    variances = (1.0,) * len(network.matrices)
    evaluation = InNumpy.of(network, variances, plain, prior, points)
    tangent = _tangents(workspace, network)
    interpolation = Interpolation.at(tangent, prior, points, gamma=GAMMA, evaluation=evaluation)
    if places is None:
        targets = GaussianTargets(y[None], np.full((1, len(y)), noise**2))
        sums = sums_over_rows(interpolation, rows, targets)
    else:
        sums = _sums_at_points(interpolation.values[0, places], y, noise, places, len(points))
    posterior = posterior_of(interpolation, solved(interpolation, sums)).in_numpy
    if posterior is None:
        raise ValueError("expected blocks that NumPy can evaluate; got others.")
    mean, cov = dataclasses.replace(posterior, kernel=plain).joint(x)
    return mean[0], cov[0]


def measurement_points(rows: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows, as far as there are not too many, and points along what is looked at.

    Returns the points, and the position of each row among them if all of them are.
    """
    along = x[:: max(1, math.ceil(len(x) / MAX_POINTS))]
    if len(rows) > MAX_ROWS_AS_POINTS:
        some = rows[:: math.ceil(len(rows) / MAX_ROWS_AS_POINTS)]
        return np.unique(np.concatenate([some, along]), axis=0), None
    both = np.concatenate([rows, along])
    points, places = np.unique(both, axis=0, return_inverse=True)
    return points, np.ravel(places)[: len(rows)]


def _sums_at_points(
    f: np.ndarray, y: np.ndarray, noise: float, places: np.ndarray, num_points: int
) -> Sums:
    """`sums_over_rows` of rows that are points, where W is the identity."""
    precision = np.bincount(places, minlength=num_points) / noise**2
    pull = np.bincount(places, weights=y - f, minlength=num_points) / noise**2
    square = np.sum((y - f) ** 2) / noise**2
    log_variance = len(y) * np.log(2 * np.pi * noise**2)
    parts = (np.diag(precision), pull, square, log_variance)
    return Sums(*(np.asarray(part)[None] for part in parts))


def starting_network(
    workspace: Workspace, prior: GaussianProcess, points: np.ndarray
) -> TanhNetwork:
    """Random weights that vary over the prior's correlation lengths; the same for every look."""
    lengths = np.asarray(correlation_lengths(prior, points))
    return random_network(points, (*workspace.hidden, 1), lengths, np.random.default_rng([SEED, 1]))


class Expression(NamedTuple):
    """What a network can express of a prior at some points."""

    cov: np.ndarray
    spectra: dict[str, np.ndarray]
    missing: float
    warning: Diagnostic | None


def expression(
    workspace: Workspace, kernel: AbstractKernel, prior_cov: np.ndarray, x: np.ndarray
) -> Expression:
    """The covariance of the network's functions at `x` beside the prior's."""
    network = starting_network(workspace, GaussianProcess(kernel), x)
    layers = network.linearized(x)[1]
    cov = tangents((1.0,) * len(network.matrices), layers, layers)[0]
    cov *= np.trace(prior_cov) / max(float(np.trace(cov)), 1e-300)
    spectra = {"prior": _spectrum(prior_cov), "network": _spectrum(cov)}
    warning = expressiveness(cov, prior_cov, computed=True)
    return Expression(cov, spectra, out_of_reach(cov, prior_cov), warning)


def _spectrum(cov: np.ndarray) -> np.ndarray:
    """Eigenvalues as shares of the variance, the largest first."""
    values = np.maximum(np.linalg.eigvalsh(cov)[::-1], 0)
    return values / max(float(np.sum(values)), 1e-300)


def _trained(
    network: TanhNetwork,
    prior: GaussianProcess,
    points: np.ndarray,
    rows: np.ndarray,
    y: np.ndarray,
    noise: float,
    num_steps: int,
) -> TanhNetwork:
    slopes = row_slopes(Normal(noise), Data(rows, y), 1)
    if slopes is None:
        raise ValueError("expected normal noise; got another likelihood.")
    objective = Penalized.of(prior, rows, points, slopes)
    return lbfgs(network, objective, Training(num_steps=num_steps, optimizer=LBFGS()))[0]


def _tangents(workspace: Workspace, network: TanhNetwork) -> Tangents:
    mlp = MLP(workspace.hidden)
    return Tangents(mlp, network.matrices, tuple(np.zeros(()) for _ in network.matrices))
