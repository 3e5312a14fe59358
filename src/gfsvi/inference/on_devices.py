"""Sums over rows on the devices of this process: accelerators, or several devices of any kind.

Rows are divided among the devices, each of which adds up its own; what they find is added by JAX.
Rows that only fill up a block have no precision, and so count for nothing.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array

from gfsvi.numerics.batching import padded
from gfsvi.numerics.devices import ROWS, mesh_of_process
from gfsvi.numerics.linalg import solve_lower
from gfsvi.numerics.precision import double
from gfsvi.plain.networks import TanhNetwork

if TYPE_CHECKING:
    from gfsvi.inference.conjugate import Interpolation

SPLIT, WHOLE, BY_OUTPUT = PartitionSpec(ROWS), PartitionSpec(), PartitionSpec(None, ROWS)


@double
def sums_on(
    mesh: Mesh, at: "Interpolation", x: np.ndarray, y: np.ndarray, precision: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sums W^T W / s^2, W^T (y - f) / s^2 and (y - f)^2 / s^2 over rows, for each output.

    Args:
        mesh: The devices.
        at: The network and the prior at the measurement points.
        x: Inputs, (row, feature).
        y: Targets, (output, row).
        precision: One over the variance of each, (output, row).
    """
    function = (at.tangents, at.prior, at.points, at.prior_factor)
    factors = (np.stack(at.tangent_factors), np.array(at.eps))
    rows = (
        _filled(mesh, np.asarray(x, np.float64), 0),
        *(_filled(mesh, np.asarray(part, np.float64), 1) for part in (y, precision)),
    )
    found = _sums(mesh, function, factors, *rows)
    return tuple(np.asarray(part) for part in found)  # pyright: ignore[reportReturnType]


@eqx.filter_jit
def _sums(
    mesh: Mesh, function: Any, factors: tuple[Array, Array], x: Array, y: Array, precision: Array
) -> tuple[Array, Array, Array]:
    tangents, prior, points, prior_factor = function

    def of_device(x: Array, y: Array, precision: Array) -> tuple[Array, Array, Array]:
        f, jacobian = tangents.jacobian(x)
        cross = tangents.gram(jacobian, tangents.jacobian(points)[1])
        between = prior.kernel.cross(jnp.asarray(x, jnp.float64), jnp.asarray(points))
        through_prior = _solved(prior_factor[None], between.T[None])[0].T
        cross = cross + factors[1][:, None, None] * through_prior
        weights = jnp.swapaxes(_solved(factors[0], jnp.swapaxes(cross, 1, 2)), 1, 2)
        residual = y - f
        weighted = precision[..., None] * weights
        gram = jnp.swapaxes(weighted, 1, 2) @ jnp.broadcast_to(weights, weighted.shape)
        pull = jnp.einsum("or,orm->om", residual, weighted)
        return jax.lax.psum((gram, pull, jnp.sum(residual**2 * precision, axis=1)), ROWS)

    specs = {"in_specs": (SPLIT, BY_OUTPUT, BY_OUTPUT), "out_specs": WHOLE, "check_vma": False}
    return jax.shard_map(of_device, mesh=mesh, **specs)(x, y, precision)


def _solved(factor: Array, right: Array) -> Array:
    """(L L^T)^-1 times a matrix."""
    return solve_lower(factor, solve_lower(factor, right), transpose=True)


class Passes(Protocol):
    """A network forwards and backwards at rows."""

    def outputs(self) -> np.ndarray:
        """The outputs, (row, output)."""
        ...

    def gradient(self, slopes: np.ndarray) -> list[np.ndarray]:
        """Derivatives by the weights, given those by the outputs."""
        ...


def passes_of(network: TanhNetwork, x: np.ndarray) -> Passes:
    """Passes by JAX on accelerators or several devices, or else in NumPy."""
    mesh = mesh_of_process()
    return PassesInNumpy(network, x) if mesh is None else PassesOnDevices(mesh, network, x)


class PassesInNumpy:
    """The network forwards and backwards in NumPy.

    Args:
        network: The network.
        x: Inputs, (row, feature).
    """

    def __init__(self, network: TanhNetwork, x: np.ndarray):
        self._network, self._activations = network, network.activations(x)

    def outputs(self) -> np.ndarray:
        """The outputs, (row, output)."""
        return self._activations[-1]

    def gradient(self, slopes: np.ndarray) -> list[np.ndarray]:
        """Derivatives by the weights, given those by the outputs."""
        return self._network.gradient(self._activations, slopes)


class PassesOnDevices:
    """The network forwards and backwards, with rows divided among devices.

    Args:
        mesh: The devices.
        network: The network.
        x: Inputs, (row, feature).
    """

    def __init__(self, mesh: Mesh, network: TanhNetwork, x: np.ndarray):
        self._mesh, self._matrices, self._count = mesh, network.matrices, len(x)
        self._x = _filled(mesh, x, 0)

    def outputs(self) -> np.ndarray:
        """The outputs, (row, output)."""
        return np.asarray(_outputs(self._mesh, self._matrices, self._x))[: self._count]

    def gradient(self, slopes: np.ndarray) -> list[np.ndarray]:
        """Derivatives by the weights, given those by the outputs."""
        extra = len(self._x) - self._count
        slopes = np.concatenate([slopes, np.zeros((extra, slopes.shape[1]), slopes.dtype)])
        return [np.asarray(g) for g in _gradient(self._mesh, self._matrices, self._x, slopes)]


def _network(matrices: Sequence[Array], x: Array) -> Array:
    for matrix in matrices[:-1]:
        x = jnp.tanh(x @ matrix[:-1] + matrix[-1])
    return x @ matrices[-1][:-1] + matrices[-1][-1]


@functools.partial(jax.jit, static_argnums=0)
def _outputs(mesh: Mesh, matrices: Sequence[Array], x: Array) -> Array:
    of_device = functools.partial(_network, matrices)
    return jax.shard_map(of_device, mesh=mesh, in_specs=SPLIT, out_specs=SPLIT)(x)


@functools.partial(jax.jit, static_argnums=0)
def _gradient(mesh: Mesh, matrices: Sequence[Array], x: Array, slopes: Array) -> Sequence[Array]:
    def of_device(x: Array, slopes: Array) -> Sequence[Array]:
        _, back = jax.vjp(lambda m: _network(m, x), matrices)
        return jax.lax.psum(back(slopes)[0], ROWS)

    specs = {"in_specs": (SPLIT, SPLIT), "out_specs": WHOLE, "check_vma": False}
    return jax.shard_map(of_device, mesh=mesh, **specs)(x, slopes)


def _filled(mesh: Mesh, rows: np.ndarray, axis: int) -> np.ndarray:
    """Rows, or numbers of rows, filled up with zeros so that few programs are compiled."""
    size = len(padded(np.zeros((rows.shape[axis], 0))))
    wanted = mesh.size * math.ceil(size / mesh.size)
    extra = [(0, 0)] * rows.ndim
    extra[axis] = (0, wanted - rows.shape[axis])
    return np.pad(rows, extra)
