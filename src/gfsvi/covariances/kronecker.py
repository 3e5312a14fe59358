"""One matrix normal a layer: correlations within a layer at the price of two small factors."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

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
        pairs = zip(jacobian, state, strict=True)
        return total(j.kronecker_variance(*map(lower_triangular, raw)) for j, raw in pairs)

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        triples = zip(jacobian, other, state, strict=True)
        return total(j.kronecker_gram(*map(lower_triangular, raw), o) for j, o, raw in triples)

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        leaves, structure = jax.tree.flatten(params)
        draws = []
        for leaf, raw, leaf_key in zip(
            leaves, state, jax.random.split(key, len(leaves)), strict=True
        ):
            left, right = map(lower_triangular, raw)
            noise = jax.random.normal(leaf_key, as_matrix(leaf).shape, leaf.dtype)
            draws.append(jnp.reshape(left @ noise @ right.T, leaf.shape))
        return jax.tree.unflatten(structure, draws)
