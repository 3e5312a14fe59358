"""A full covariance over all weights, for small networks and exact limits."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import (
    AbstractCovariance,
    State,
    lower_triangular,
    raw_lower_triangular,
    unflatten_like,
)
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import (
    Grams,
    Jacobian,
    Variances,
    projected_gram,
    projected_variance,
    total,
)

MAX_WEIGHTS = 4096


class Full(AbstractCovariance):
    """S = L L^T over all weights; the state is L with the logarithm of its diagonal."""

    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        leaves = jax.tree.leaves(params)
        num_weights = sum(leaf.size for leaf in leaves)
        if num_weights > MAX_WEIGHTS:
            raise ValueError(
                f"a full covariance expects at most {MAX_WEIGHTS} weights; got {num_weights}. "
                "Use Kronecker() or LowRank(), or a smaller network."
            )
        return raw_lower_triangular(num_weights, self.initial_std, leaves[0].dtype)

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        return projected_variance(_project(jacobian, lower_triangular(state)))

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        factor = lower_triangular(state)
        mine = _project(jacobian, factor)
        same = jacobian is other
        return projected_gram(mine, mine if same else _project(other, factor), same)

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        noise = jax.random.normal(key, state.shape[:1], state.dtype)
        return unflatten_like(params, lower_triangular(state) @ noise)


def _project(
    jacobian: Jacobian, factor: Float[Array, "weight weight"]
) -> Float[Array, "point k weight"]:
    parts, start = [], 0
    for leaf in jacobian:
        rows, columns = leaf.matrix_shape
        block = factor[start : start + rows * columns]
        parts.append(leaf.project(jnp.reshape(block, (rows, columns, -1))))
        start += rows * columns
    return total(parts)
