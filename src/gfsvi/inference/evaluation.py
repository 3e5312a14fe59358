"""The network, its tangent kernel and the prior at given rows: in NumPy if they allow it."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from typing import NamedTuple, Protocol

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.functions.conjugate_network import kernel_beside
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.means import Zero
from gfsvi.functions.tangents import AbstractTangents
from gfsvi.networks.in_numpy import network_in_numpy
from gfsvi.networks.jacobian import BLOCK_ELEMENTS
from gfsvi.numerics.batching import padded
from gfsvi.numerics.types import Points
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.plain.networks import Layers, LinearizedInNumpy, first_moving, tangents

MAX_ROWS = 1024
"""Rows whose derivatives are in memory at once, if JAX computes them."""


class AtPoints(NamedTuple):
    """Values, tangent kernel, prior mean and prior covariance at the measurement points."""

    values: Float[np.ndarray, "output point"]
    tangents: Float[np.ndarray, "#output point point"]
    prior_mean: Float[np.ndarray, "output point"]
    prior_cov: Float[np.ndarray, "point point"]


class AtRows(NamedTuple):
    """Values at rows, and tangent kernel and prior covariance between rows and points."""

    values: Float[np.ndarray, "output row"]
    tangents: Float[np.ndarray, "#output row point"]
    prior_cov: Float[np.ndarray, "row point"]


class Evaluation(Protocol):
    """A network with its tangent kernel, and a prior, at measurement points and at rows."""

    def at_points(self) -> AtPoints:
        """Everything at the measurement points."""
        ...

    def at_rows(self, x: np.ndarray) -> AtRows:
        """Everything between rows and measurement points."""
        ...

    def prior_at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The prior's covariances (point, row) and variances (row,)."""
        ...


def evaluation_of(
    function: AbstractTangents, prior: GaussianProcess, points: np.ndarray
) -> Evaluation:
    """The evaluation of a network and a prior, in NumPy if both have such a form."""
    network = network_in_numpy(function.network, function.params)
    kernel = kernel_beside(prior.kernel, function.network, points)
    if kernel is None or network is None:
        return _WithJax(function, prior, points)
    return InNumpy.of(network, function.variances, kernel, prior, points)


class InNumpy(NamedTuple):
    """An evaluation without JAX."""

    network: LinearizedInNumpy
    variances: tuple[float, ...]
    kernel: KernelInNumpy
    prior: GaussianProcess
    points: np.ndarray
    values: np.ndarray
    layers: Layers

    @classmethod
    def of(
        cls,
        network: LinearizedInNumpy,
        variances: tuple[float, ...],
        kernel: KernelInNumpy,
        prior: GaussianProcess,
        points: np.ndarray,
    ) -> "InNumpy":
        """Evaluate the network at the points, with a variance per layer of its tangent kernel."""
        return cls(
            network,
            variances,
            kernel,
            prior,
            points,
            *network.linearized(points, first_moving(variances)),
        )

    def at_points(self) -> AtPoints:
        gram = tangents(self.variances, self.layers, self.layers)
        mean = np.zeros((1, len(self.points)))
        if not isinstance(self.prior.mean, Zero):
            mean = np.asarray(self.prior.mean.at(jnp.asarray(self.points)))
        mean = np.broadcast_to(mean, self.values.shape)
        return AtPoints(self.values, gram, mean, self.kernel.gram(self.points))

    def at_rows(self, x: np.ndarray) -> AtRows:
        x, first = np.asarray(x, np.float64), first_moving(self.variances)
        size = max(1, BLOCK_ELEMENTS // (len(self.values) * self.network.row_size))
        blocks = []
        for start in range(0, len(x), size):
            f, layers = self.network.linearized(x[start : start + size], first)
            blocks.append((f, tangents(self.variances, layers, self.layers)))
        f, cross = (np.concatenate(part, axis=1) for part in zip(*blocks, strict=True))
        return AtRows(f, cross, self.kernel.cross(x, self.points))

    def prior_at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.kernel.cross(self.points, x), self.kernel.diagonal(x)


class _WithJax(NamedTuple):
    function: AbstractTangents
    prior: GaussianProcess
    points: np.ndarray

    def at_points(self) -> AtPoints:
        return AtPoints(*map(np.asarray, _at_points(self.function, self.prior, self.points)))

    def at_rows(self, x: np.ndarray) -> AtRows:
        blocks = [self._block(x[i : i + MAX_ROWS]) for i in range(0, len(x), MAX_ROWS)]
        f, cross, prior = (np.concatenate(part, axis=-2) for part in zip(*blocks, strict=True))
        return AtRows(f[..., 0], cross, prior)

    def _block(self, x: np.ndarray) -> list[np.ndarray]:
        found = _at_rows(self.function, self.prior, padded(x), self.points)
        return [np.asarray(array)[..., : len(x), :] for array in found]

    def prior_at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernel, rows = self.prior.kernel, jnp.asarray(x)
        cross, variance = kernel.cross(jnp.asarray(self.points), rows), kernel.diagonal(rows)
        return np.asarray(cross), np.asarray(variance)


@eqx.filter_jit
def _at_points(
    function: AbstractTangents, prior: GaussianProcess, points: Points
) -> tuple[Array, Array, Array, Array]:
    values, process = function.at(points), prior.at(points)
    mean = jnp.broadcast_to(process.mean, values.mean.shape)
    return values.mean, values.cov, mean, process.cov[0]


@eqx.filter_jit
def _at_rows(
    function: AbstractTangents, prior: GaussianProcess, x: Points, points: Points
) -> tuple[Array, Array, Array]:
    f, jacobian = function.jacobian(x)
    _, at_points = function.jacobian(points)
    cross = prior.kernel.cross(jnp.asarray(x, jnp.float64), jnp.asarray(points))
    return f[..., None], function.gram(jacobian, at_points), cross
