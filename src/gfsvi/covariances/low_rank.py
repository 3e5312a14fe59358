"""Independent weights plus a few random directions shared by all layers."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import (
    Grams,
    Jacobian,
    Variances,
    as_matrix,
    projected_gram,
    projected_variance,
    total,
)


class LowRank(AbstractCovariance):
    """S = diag(std^2) + F F^T with `rank` columns in F."""

    rank: int = eqx.field(static=True, default=10)
    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        leaves = jax.tree.leaves(params)
        keys = jax.random.split(key, len(leaves))
        directions = tuple(
            0.1
            * self.initial_std
            * jax.random.normal(k, (*as_matrix(leaf).shape, self.rank), leaf.dtype)
            for leaf, k in zip(leaves, keys, strict=True)
        )
        return self._diagonal.init(params, key=key), directions

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        independent, directions = state
        shared = projected_variance(_project(jacobian, directions))
        return self._diagonal.variance(independent, jacobian) + shared

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        independent, directions = state
        same = jacobian is other
        mine = _project(jacobian, directions)
        shared = projected_gram(mine, mine if same else _project(other, directions), same)
        return self._diagonal.gram(independent, jacobian, other) + shared

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        independent, directions = state
        diagonal_key, key = jax.random.split(key)
        draw = self._diagonal.sample(independent, params, key=diagonal_key)
        leaves, structure = jax.tree.flatten(draw)
        noise = jax.random.normal(key, (self.rank,), leaves[0].dtype)
        shifted = [
            leaf + jnp.reshape(direction @ noise, leaf.shape)
            for leaf, direction in zip(leaves, directions, strict=True)
        ]
        return jax.tree.unflatten(structure, shifted)

    @property
    def _diagonal(self) -> Diagonal:
        return Diagonal(self.initial_std)


def _project(jacobian: Jacobian, directions: State) -> Float[Array, "point k rank"]:
    return total(j.project(d) for j, d in zip(jacobian, directions, strict=True))
