"""The curvature of the log-likelihood: the generalised Gauss-Newton matrix H, in a structure.

H = sum_i J_i^T Lambda_i J_i, where Lambda_i is minus the second derivative of log p(y_i | f_i)
by f_i. Rows are processed in blocks; sums are float64.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.covariances.full import Full
from gfsvi.covariances.last_layer import LastLayer
from gfsvi.covariances.rotated_diagonal import RotatedDiagonal
from gfsvi.data import Data
from gfsvi.functions.ensemble import Ensemble
from gfsvi.inference.models import EnsembleModel
from gfsvi.likelihoods.base import AbstractLikelihood, FunctionValues
from gfsvi.networks import jacobian as jacobians
from gfsvi.networks.jacobian import AbstractJacobian, Jacobian
from gfsvi.numerics.linalg import map_in_chunks

T = TypeVar("T")
Stds = tuple[Float[Array, "row column"], ...]
Directions = tuple[Float[Array, "row column direction"], ...]


class AbstractCurvature(eqx.Module):
    """H in a structure that can be added to the precision of independent weights and inverted.

    Every method takes the prior standard deviations of the weights, leaf by leaf.
    """

    @abstractmethod
    def log_det(self, stds: Stds) -> Float[Array, ""]:
        """log det(H + P) - log det(P), where P is the precision of the prior."""

    @abstractmethod
    def num_determined(self, stds: Stds) -> tuple[Float[Array, ""], ...]:
        """Effective number of weights per leaf that the data determine (MacKay 1992)."""

    @abstractmethod
    def state(self, stds: Stds) -> State:
        """The state of the covariance family that represents the inverse of H + P."""


class DiagonalCurvature(AbstractCurvature):
    """The diagonal of H."""

    diagonal: Stds

    def log_det(self, stds: Stds) -> Float[Array, ""]:
        return jacobians.total(jnp.sum(jnp.log1p(r)) for r in self._ratios(stds))

    def num_determined(self, stds: Stds) -> tuple[Float[Array, ""], ...]:
        return tuple(jnp.sum(ratio / (1 + ratio)) for ratio in self._ratios(stds))

    def state(self, stds: Stds) -> State:
        pairs = zip(stds, self._ratios(stds), strict=True)
        return tuple(jnp.log(std) - jnp.log1p(ratio) / 2 for std, ratio in pairs)

    def _ratios(self, stds: Stds) -> Stds:
        pairs = zip(self.diagonal, stds, strict=True)
        return tuple(value * std**2 for value, std in pairs)


class RotatedCurvature(AbstractCurvature):
    """The diagonal of H along the axes of its Kronecker factors.

    As in George et al. (2018), but with the axes of the layer's own partial traces, which come
    closer to H (`tests/gold/test_kronecker_against_peers.py`). The prior must have one standard
    deviation per leaf, so that it is independent along any axes.
    """

    axes: tuple[tuple[Float[Array, "row row"], Float[Array, "column column"]], ...]
    along_axes: DiagonalCurvature

    def log_det(self, stds: Stds) -> Float[Array, ""]:
        return self.along_axes.log_det(stds)

    def num_determined(self, stds: Stds) -> tuple[Float[Array, ""], ...]:
        return self.along_axes.num_determined(stds)

    def state(self, stds: Stds) -> State:
        pairs = zip(self.axes, self.along_axes.state(stds), strict=True)
        return tuple((*axes, log_std) for axes, log_std in pairs)


class FullCurvature(AbstractCurvature):
    """All of H, over the last leaves if only these are uncertain."""

    matrix: Float[Array, "weight weight"]
    sizes: tuple[int, ...] = eqx.field(static=True)
    num_leaves: int = eqx.field(static=True)

    def log_det(self, stds: Stds) -> Float[Array, ""]:
        return 2 * jnp.sum(jnp.log(jnp.diagonal(self._factor(self._vector(stds)))))

    def num_determined(self, stds: Stds) -> tuple[Float[Array, ""], ...]:
        # The remaining share of the prior variance is what the data do not determine.
        inverse = self._inverse_factor(self._vector(stds))
        shares = jnp.split(1 - jnp.sum(inverse**2, axis=1), _cuts(self.sizes[-self.num_leaves :]))
        certain = len(self.sizes) - self.num_leaves
        return (*(jnp.zeros(()) for _ in range(certain)), *map(jnp.sum, shares))

    def state(self, stds: Stds) -> State:
        std = self._vector(stds)
        factor = std[:, None] * self._inverse_factor(std)
        return jnp.tril(factor, -1) + jnp.diag(jnp.log(jnp.diagonal(factor)))

    def _vector(self, stds: Stds) -> Float[Array, " weight"]:
        return jnp.concatenate([jnp.ravel(std) for std in stds[-self.num_leaves :]])

    def _factor(self, std: Float[Array, " weight"]) -> Float[Array, "weight weight"]:
        """The upper triangular R with R R^T = I + S^(1/2) H S^(1/2)."""
        whitened = std[:, None] * self.matrix * std + jnp.eye(len(std))
        return jnp.linalg.cholesky(whitened[::-1, ::-1])[::-1, ::-1]

    def _inverse_factor(self, std: Float[Array, " weight"]) -> Float[Array, "weight weight"]:
        """The lower triangular R^-T."""
        identity = jnp.eye(len(std))
        return jax.scipy.linalg.solve_triangular(self._factor(std), identity, trans="T")


def curvature(structure: AbstractCovariance, model: EnsembleModel, data: Data) -> AbstractCurvature:
    """H of the only member of an ensemble at all rows, in the structure of a covariance."""
    check_structure(structure)
    return _KINDS[type(structure)](structure, model, jax.tree.map(jnp.asarray, data))


@eqx.filter_jit
def curvature_along(
    directions: Directions, model: EnsembleModel, data: Data
) -> Float[Array, "direction direction"]:
    """D^T H D for directions D in the space of all weights, at the only member of an ensemble."""

    def square(jacobian: Jacobian) -> Float[Array, "direction direction"]:
        pairs = zip(jacobian, directions, strict=True)
        along = jacobians.total(leaf.project(direction) for leaf, direction in pairs)
        flat = jnp.reshape(along, (-1, along.shape[-1]))
        return flat.T @ flat

    held = max(direction.shape[1] * direction.shape[2] for direction in directions)
    return _over_rows(square, model, jax.tree.map(jnp.asarray, data), held)


def check_structure(structure: AbstractCovariance) -> None:
    """Raise if H cannot be represented in this family of covariances."""
    if type(structure) not in _KINDS:
        known = ", ".join(f"{kind.__name__}()" for kind in _KINDS)
        raise TypeError(
            f"Laplace expects one of {known} as its structure; got {type(structure).__name__}. "
            "For correlations within layers use RotatedDiagonal()."
        )


@eqx.filter_jit
def _diagonal(structure: Diagonal, model: EnsembleModel, data: Data) -> DiagonalCurvature:
    return DiagonalCurvature(_over_rows(_sums_of_squares, model, data))


@eqx.filter_jit
def _rotated(structure: RotatedDiagonal, model: EnsembleModel, data: Data) -> RotatedCurvature:
    moments = _over_rows(lambda j: tuple(leaf.second_moments() for leaf in j), model, data)
    axes = jax.tree.map(lambda moment: jnp.linalg.eigh(moment)[1], moments)

    def along_axes(jacobian: Jacobian) -> Stds:
        pairs = zip(jacobian, axes, strict=True)
        return _sums_of_squares(tuple(leaf.rotated(*sides) for leaf, sides in pairs))

    return RotatedCurvature(axes, DiagonalCurvature(_over_rows(along_axes, model, data)))


@eqx.filter_jit
def _full(structure: Full, model: EnsembleModel, data: Data) -> FullCurvature:
    num_leaves = len(jax.tree.leaves(model.function.params))
    return _full_over(num_leaves, model, data)


@eqx.filter_jit
def _last_layer(structure: LastLayer, model: EnsembleModel, data: Data) -> FullCurvature:
    return _full_over(structure.num_leaves, model, data)


_KINDS: dict[type[AbstractCovariance], Callable[..., AbstractCurvature]] = {
    RotatedDiagonal: _rotated,
    Diagonal: _diagonal,
    LastLayer: _last_layer,
    Full: _full,
}


def _full_over(num_leaves: int, model: EnsembleModel, data: Data) -> FullCurvature:
    leaves = jax.tree.leaves(model.function.member(0))
    sizes = tuple(leaf.size for leaf in leaves)

    def square(jacobian: Jacobian) -> Float[Array, "weight weight"]:
        chosen = jacobian[-num_leaves:]
        rows = jnp.concatenate([leaf.multiplied_out() for leaf in chosen], axis=-1)
        flat = jnp.reshape(rows, (-1, rows.shape[-1]))
        return flat.T @ flat

    numbers = sum(sizes[-num_leaves:])
    return FullCurvature(_over_rows(square, model, data, numbers), sizes, num_leaves)


def _sums_of_squares(jacobian: Jacobian) -> Stds:
    return tuple(leaf.sum_of_squares() for leaf in jacobian)


def _over_rows(
    contribution: Callable[[Jacobian], T], model: EnsembleModel, data: Data, numbers: int = 0
) -> T:
    """The sum over blocks of rows of a function of the Jacobian times a root of Lambda."""
    function = model.function
    params = function.member(0)
    shape = jax.eval_shape(function.network.apply, params, data.x[:1]).shape
    held = max(function.network.jacobian_size(params), numbers) * shape[-1]
    blocks = _blocks(data, max(1, jacobians.BLOCK_ELEMENTS // held))

    def of_block(block: tuple[Data, Array]) -> T:
        return contribution(_weighted_jacobian(function, model.likelihood, *block))

    def add(total: T, block: tuple[Data, Array]) -> tuple[T, None]:
        return jax.tree.map(jnp.add, total, of_block(block)), None

    like = jax.eval_shape(of_block, jax.tree.map(lambda leaf: leaf[0], blocks))
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), like)
    return jax.lax.scan(add, zeros, blocks)[0]


def _blocks(data: Data, size: int) -> tuple[Data, Float[Array, "block row"]]:
    """Rows in blocks of equal size, and a mask that is one for rows that are not padding."""
    size = min(size, len(data))
    num_blocks = -(-len(data) // size)
    missing = num_blocks * size - len(data)

    def split(rows: Array, mode: str) -> Array:
        padded = jnp.pad(rows, [(0, missing)] + [(0, 0)] * (rows.ndim - 1), mode=mode)
        return jnp.reshape(padded, (num_blocks, size, *rows.shape[1:]))

    return jax.tree.map(lambda rows: split(rows, "edge"), data), split(
        jnp.ones(len(data)), "constant"
    )


def _weighted_jacobian(
    function: Ensemble, likelihood: AbstractLikelihood, rows: Data, present: Float[Array, " row"]
) -> Jacobian:
    params = function.member(0)
    x = jnp.asarray(rows.x, jax.tree.leaves(params)[0].dtype)
    num_outputs = jax.eval_shape(function.network.apply, params, x).shape[-1]
    f, jacobian = function.network.linearize(params, x, jnp.eye(num_outputs, dtype=x.dtype))
    counted = jnp.sqrt(rows.row_weights) * present
    roots = _roots(likelihood, rows.y, f.T.astype(jnp.float64)) * counted[:, None, None]
    return tuple(_double(leaf).combined(roots) for leaf in jacobian)


def _roots(likelihood: AbstractLikelihood, y: Array, f: FunctionValues) -> Float[Array, "p k k"]:
    """R_i with R_i R_i^T = Lambda_i, ignoring its negative eigenvalues."""

    def log_prob(y: Array, f: Float[Array, " output"]) -> Float[Array, ""]:
        return likelihood.log_prob(y[None], f[:, None])[0]

    sharpness = -jax.vmap(jax.hessian(log_prob, argnums=1))(y, f.T)
    values, vectors = map_in_chunks(jnp.linalg.eigh, sharpness)
    return vectors * jnp.sqrt(jnp.maximum(values, 0))[:, None, :]


def _double(leaf: AbstractJacobian) -> AbstractJacobian:
    return jax.tree.map(lambda array: array.astype(jnp.float64), leaf)


def _cuts(sizes: tuple[int, ...]) -> list[int]:
    return [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
