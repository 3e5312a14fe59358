"""One matrix normal per layer: correlations within a layer at the cost of two small factors."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State, lower_triangular, raw_lower_triangular
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import Grams, Jacobian, Variances, as_matrix, total


class Kronecker(AbstractCovariance):
    """S_l = (A A^T) (x) (B B^T) for the matrix of layer l, A over its rows, B over its columns."""

    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        scale = self.initial_std**0.5
        return tuple(
            tuple(raw_lower_triangular(size, scale, leaf.dtype) for size in as_matrix(leaf).shape)
            for leaf in jax.tree.leaves(params)
        )

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        pairs = zip(jacobian, _factors(state), strict=True)
        return total(j.kronecker_variance(*factors) for j, factors in pairs)

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        triples = zip(jacobian, other, _factors(state), strict=True)
        return total(j.kronecker_gram(*factors, o) for j, o, factors in triples)

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        leaves, structure = jax.tree.flatten(params)
        draws = []
        keys = jax.random.split(key, len(leaves))
        for leaf, (left, right), leaf_key in zip(leaves, _factors(state), keys, strict=True):
            noise = jax.random.normal(leaf_key, as_matrix(leaf).shape, leaf.dtype)
            draws.append(jnp.reshape(left @ noise @ right.T, leaf.shape))
        return jax.tree.unflatten(structure, draws)


def _factors(state: State) -> list[tuple[Array, Array]]:
    return [(lower_triangular(left), lower_triangular(right)) for left, right in state]
