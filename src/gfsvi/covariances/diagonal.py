"""Independent weights: the paper's mean-field family."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariance import AbstractIndependent, State
from gfsvi.jacobian import as_matrix
from gfsvi.network import Params


class Diagonal(AbstractIndependent):
    """S = diag(std^2); the state is log(std), leaf by leaf."""

    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        leaves = jax.tree.leaves(params)
        return tuple(jnp.full_like(as_matrix(leaf), jnp.log(self.initial_std)) for leaf in leaves)

    def stds(self, state: State, params: Params) -> tuple[Float[Array, "row column"], ...]:
        return tuple(jnp.exp(log_std) for log_std in state)
