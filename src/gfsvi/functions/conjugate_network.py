"""A linearised network whose posterior is known in closed form, at points and everywhere else."""

import functools
from collections.abc import Callable
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.tangents import AbstractTangents
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.kernels.in_numpy import KernelThroughJax
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.in_numpy import network_in_numpy
from gfsvi.networks.jacobian import BLOCK_ELEMENTS, Jacobian
from gfsvi.networks.torch import TorchNetwork
from gfsvi.numerics.batching import map_blocks
from gfsvi.numerics.linalg import add_to_diagonal, cholesky
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.plain.networks import Layers, LinearizedInNumpy, first_moving
from gfsvi.plain.posterior import ConjugatePosterior, share_kept
from gfsvi.values import Gaussian, Independent, Marginals

MAX_KEPT = 2_000_000
"""Numbers of a network linearised at its points that are kept for the next rows."""


class ConjugateNetwork(AbstractRandomFunction):
    """The posterior of a linearised network under a Gaussian-process prior, in closed form.

    With W(x) what interpolates values at the measurement points Z (see `inference.conjugate`),
    the mean is f(x) + W(x) d and the covariance W(x) C W(x')^T + K(x, x') - K(x, Z) K_g^-1
    K(Z, x'): what the data say through the network, and what they leave open of the prior K,
    which is nothing at the points and all of it far from them. Rows that are no points say more
    between the points than these do: `near` is the share of the variance that they leave there.

    Args:
        tangents: The network and its weights.
        prior: The prior.
        points: The measurement points Z.
        shift: (T(Z, Z) + eps I)^-1 d, one row per output.
        root: The same of a root of C.
        eps: What is added to the diagonal of the tangent kernel T at Z, by output.
        whitener: The inverse of the lower Cholesky factor of K_g, the regularised prior at Z.
        near: The share of what is left of the prior that counts close to the points.
    """

    tangents: AbstractTangents
    prior: GaussianProcess
    points: Points
    shift: Float[Array, "output point"]
    root: Float[Array, "output point point"]
    eps: Float[Array, " output"]
    whitener: Float[Array, "point point"]
    near: float = eqx.field(static=True, default=1.0)

    def __check_init__(self) -> None:
        if not 0 <= self.near <= 1:
            raise ValueError(f"near expects a share between 0 and 1; got {self.near}.")

    @property
    def network(self) -> AbstractNetwork:
        """The network."""
        return self.tangents.network

    @property
    def params(self) -> Params:
        """The weights that it is linearised at."""
        return self.tangents.params

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        x = jnp.asarray(x)
        mean, spread, explained = self._parts(x, self._at_points)
        cov = spread @ jnp.swapaxes(spread, -1, -2)
        prior = self.prior.at(x).cov
        left = prior - (explained.T @ explained)[None]
        kept = share_kept(_diagonal(left), _diagonal(prior), self.near) ** 0.5
        return Gaussian(mean, cov + kept[..., :, None] * kept[..., None, :] * left)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        mean, known, left = self.variances(x)
        variance = known + left
        return Marginals(mean, variance.T[:, :, None] * jnp.eye(len(variance)))

    def variances(
        self, x: Points
    ) -> tuple[
        Float[Array, "output point"], Float[Array, "output point"], Float[Array, "output point"]
    ]:
        """Means, and the two parts of the variances: W C W^T, and what is left of the prior."""
        at_points = self._at_points

        def block(rows: Points) -> tuple[Array, Array, Array]:
            mean, spread, explained = self._parts(rows, at_points)
            return mean.T, jnp.sum(spread**2, axis=-1).T, self._left(rows, explained).T

        size = max(1, BLOCK_ELEMENTS // self.root[..., 0].size)
        found = map_blocks(block, jnp.asarray(x), size)
        mean, known, left = (part.T for part in found)
        return mean, known, jnp.broadcast_to(left, mean.shape)

    def marginals_in_numpy(self, x: np.ndarray) -> Independent | None:
        process = self.in_numpy
        if process is None:
            return None
        mean, variance = process.marginals(np.asarray(x, np.float64))
        return Independent(cast(Any, mean), cast(Any, variance))

    @property
    def in_numpy(self) -> ConjugatePosterior | None:
        """The same posterior in NumPy; None if network, kernel or images have no such form."""
        fixed = _in_numpy(_Same(self.tangents), _Same(self.prior), _Same(self.points))
        if fixed is None:
            return None
        network, variances, kernel, points, at_points = fixed
        arrays = (self.shift, self.root, self.eps, self.whitener)
        converted = (np.asarray(array, np.float64) for array in arrays)
        fixed_parts = (network, variances, kernel, points)
        return ConjugatePosterior(*fixed_parts, *converted, near=self.near, at_points=at_points)

    @double
    def sample_function(
        self, *, key: PRNGKeyArray
    ) -> Callable[[Points], Float[Array, "point output"]]:
        """One function drawn from the process, to be evaluated anywhere.

        It remembers its values, so that later ones agree with them.
        """
        return _DrawnFunction(self, key)

    @property
    def _at_points(self) -> Jacobian:
        return self.tangents.jacobian(jnp.asarray(self.points))[1]

    def design(self, x: Points) -> tuple[Array, Array, Array]:
        """The network at rows, what `shift` and `root` are multiplied by, and what is left.

        (output, row), (output, row, point) and (row,): f(x), W(x) (T(Z, Z) + eps I), and the
        variance of the prior that its values at Z leave open.
        """
        f, weights, explained = self._design(x, self._at_points)
        return f, weights, self._left(x, explained)[0]

    def _left(self, x: Points, explained: Array) -> Float[Array, "#output row"]:
        prior = self.prior.marginals(x).variance
        left = jnp.maximum(prior - jnp.sum(explained**2, axis=0), 0)
        return left * share_kept(left, prior, self.near)

    def _parts(self, x: Points, at_points: Jacobian) -> tuple[Array, Array, Array]:
        """The mean, W(x) times a root of C, and what Z explains of the prior at x."""
        f, weights, explained = self._design(x, at_points)
        mean = f + jnp.einsum("opz,oz->op", weights, self.shift)
        return mean, weights @ self.root, explained

    def _design(self, x: Points, at_points: Jacobian) -> tuple[Array, Array, Array]:
        f, jacobian = self.tangents.jacobian(x)
        cross = self.prior.kernel.cross(jnp.asarray(x, jnp.float64), jnp.asarray(self.points))
        explained = self.whitener @ cross.T
        # T(x, Z) + eps K(x, Z) K_g^-1, which is W(x) (T(Z, Z) + eps I)
        through_prior = jnp.asarray(self.eps)[:, None, None] * (explained.T @ self.whitener)
        return f, self.tangents.gram(jacobian, at_points) + through_prior, explained


def _diagonal(cov: Float[Array, "... row row"]) -> Float[Array, "... row"]:
    return jnp.diagonal(cov, axis1=-2, axis2=-1)


def kernel_beside(
    kernel: AbstractKernel, network: AbstractNetwork, points: Points
) -> KernelInNumpy | None:
    """The kernel in NumPy, where rows are numbers and it has such a form.

    Beside a network of PyTorch, which has no other form, any kernel, also of images.
    """
    if isinstance(network, TorchNetwork):
        return KernelThroughJax(kernel)
    return None if np.ndim(points) > 2 else composed_in_numpy(kernel)


class _Same:
    """An object that equals nothing but itself, as the key of a cache."""

    def __init__(self, content: Any):
        self.content = content

    def __hash__(self) -> int:
        return id(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.content is other.content


@functools.lru_cache(maxsize=4)
def _in_numpy(
    tangents: _Same, prior: _Same, points: _Same
) -> tuple[LinearizedInNumpy, tuple[float, ...], KernelInNumpy, np.ndarray, Layers | None] | None:
    """What stays the same while a posterior learns rows, which would take longer than a row."""
    network, params = tangents.content.network, tangents.content.params
    kernel = kernel_beside(prior.content.kernel, network, points.content)
    linearized = network_in_numpy(network, params)
    if kernel is None or linearized is None:
        return None
    variances, rows = tangents.content.variances, np.asarray(points.content, np.float64)
    few = len(rows) * linearized.row_size < MAX_KEPT
    at_points = linearized.linearized(rows, first_moving(variances))[1] if few else None
    return linearized, variances, kernel, rows, at_points


class _DrawnFunction:
    """A function known where it has been asked for its values, and random elsewhere."""

    def __init__(self, process: ConjugateNetwork, key: PRNGKeyArray):
        self._process, self._key = process, key
        self._x: list[Array] = []
        self._white: list[Array] = []

    @double
    def __call__(self, x: Points) -> Float[Array, "point output"]:
        rows = jnp.asarray(x, jnp.float64)
        known = sum(map(len, self._x))
        # The same standard normal numbers for known values, and new ones for the others.
        key = jax.random.fold_in(self._key, len(self._x))
        shape = (len(self._process.shift), len(rows))
        self._white.append(jax.random.normal(key, shape, jnp.float64))
        self._x.append(rows)
        white = jnp.concatenate(self._white, axis=1)
        return _drawn(self._process, jnp.concatenate(self._x), white)[known:]


@eqx.filter_jit
def _drawn(
    process: ConjugateNetwork, x: Points, white: Float[Array, "output point"]
) -> Float[Array, "point output"]:
    """The values that standard normal numbers stand for, each given those before it."""
    values = process.at(x)
    jitter = 1e-10 * jnp.mean(process.prior.kernel.diagonal(jnp.asarray(process.points)))
    factor = cholesky(add_to_diagonal(values.cov, jitter), jitter)
    factor = jnp.broadcast_to(factor, (len(white), *factor.shape[1:]))
    return (values.mean + jnp.einsum("opq,oq->op", factor, white)).T
