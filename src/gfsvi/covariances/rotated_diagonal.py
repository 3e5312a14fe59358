"""Weights that are independent in a rotated basis: Laplace with Kronecker factors."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import Grams, Jacobian, Variances, as_matrix, total


class RotatedDiagonal(AbstractCovariance):
    """S_l = (U (x) V) diag(std^2) (U (x) V)^T for the matrix of layer l, U over its rows.

    The state is U, V and log(std), leaf by leaf: the axes along which data inform the weights, and
    the standard deviation along each of them.
    """

    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        matrices = [as_matrix(leaf) for leaf in jax.tree.leaves(params)]
        return tuple(
            (*(jnp.eye(size, dtype=m.dtype) for size in m.shape), self._log_stds(m))
            for m in matrices
        )

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        return total(
            j.rotated(left, right).scaled_variance(jnp.exp(log_std))
            for j, (left, right, log_std) in zip(jacobian, state, strict=True)
        )

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        grams = []
        for j, o, (left, right, log_std) in zip(jacobian, other, state, strict=True):
            mine = j.rotated(left, right)
            others = mine if j is o else o.rotated(left, right)
            grams.append(mine.scaled_gram(jnp.exp(log_std), others))
        return total(grams)

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        leaves, structure = jax.tree.flatten(params)
        draws = []
        for leaf, (left, right, log_std), leaf_key in zip(
            leaves, state, jax.random.split(key, len(leaves)), strict=True
        ):
            noise = jax.random.normal(leaf_key, log_std.shape, leaf.dtype)
            draws.append(jnp.reshape(left @ (jnp.exp(log_std) * noise) @ right.T, leaf.shape))
        return jax.tree.unflatten(structure, draws)

    def _log_stds(self, matrix: jax.Array) -> jax.Array:
        return jnp.full_like(matrix, jnp.log(self.initial_std))
