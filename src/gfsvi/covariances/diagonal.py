"""Independent weights: the paper's mean-field family."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractIndependent, State
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import Grams, Jacobian, Variances, as_matrix, total


class Diagonal(AbstractIndependent):
    """S = diag(std^2); the state is log(std), leaf by leaf."""

    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        leaves = jax.tree.leaves(params)
        return tuple(jnp.full_like(as_matrix(leaf), jnp.log(self.initial_std)) for leaf in leaves)

    def stds(self, state: State, params: Params) -> tuple[Float[Array, "row column"], ...]:
        return tuple(jnp.exp(log_std) for log_std in state)

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        pairs = zip(jacobian, state, strict=True)
        return total(j.scaled_variance(jnp.exp(log_std)) for j, log_std in pairs)

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        triples = zip(jacobian, other, state, strict=True)
        return total(j.scaled_gram(jnp.exp(log_std), o) for j, o, log_std in triples)
