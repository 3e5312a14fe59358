"""A few random directions shared by all layers; in all other directions the weights are certain."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.networks import jacobian as jacobians
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


class Subspace(AbstractCovariance):
    """S = F F^T with `rank` columns in F."""

    rank: int = eqx.field(static=True, default=10)
    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        leaves = jax.tree.leaves(params)
        keys = jax.random.split(key, len(leaves))
        # Random columns, scaled so that each weight has the initial standard deviation on average.
        scale = self.initial_std / self.rank**0.5
        return tuple(
            scale * jax.random.normal(k, (*as_matrix(leaf).shape, self.rank), leaf.dtype)
            for leaf, k in zip(leaves, keys, strict=True)
        )

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        return projected_variance(_project(jacobian, state))

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        same = jacobian is other
        mine = _project(jacobian, state)
        return projected_gram(mine, mine if same else _project(other, state), same)

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        leaves, structure = jax.tree.flatten(params)
        noise = jax.random.normal(key, (self.rank,), leaves[0].dtype)
        pairs = zip(leaves, state, strict=True)
        shaped = [jnp.reshape(direction @ noise, leaf.shape) for leaf, direction in pairs]
        return jax.tree.unflatten(structure, shaped)


def _project(jacobian: Jacobian, directions: State) -> Float[Array, "point k rank"]:
    """J F, in blocks of points: on the way, every point has a number per column and direction."""

    def of_point(one: Jacobian) -> Float[Array, "k rank"]:
        rows = jax.tree.map(lambda leaf: leaf[None], one)
        pairs = zip(rows, directions, strict=True)
        return total(leaf.project(direction) for leaf, direction in pairs)[0]

    held = max(direction.shape[1] * direction.shape[2] for direction in directions)
    block = max(1, jacobians.BLOCK_ELEMENTS // held)
    return jax.lax.map(jax.checkpoint(of_point), jacobian, batch_size=block)
