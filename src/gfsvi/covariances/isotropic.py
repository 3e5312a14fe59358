"""One standard deviation per layer: the usual prior over weights."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractIndependent, State
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import AbstractJacobian, Grams, Jacobian, Variances, total


class Isotropic(AbstractIndependent):
    """S_l = std_l^2 I for the weights of layer l; the state is log(std), one number per leaf."""

    initial_std: float = eqx.field(static=True, default=1.0)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        log_std = math.log(self.initial_std)
        return tuple(jnp.asarray(log_std, leaf.dtype) for leaf in jax.tree.leaves(params))

    def stds(self, state: State, params: Params) -> tuple[Float[Array, "row column"], ...]:
        return tuple(
            jnp.full(_matrix_shape(leaf.shape), jnp.exp(log_std), leaf.dtype)
            for leaf, log_std in zip(jax.tree.leaves(params), state, strict=True)
        )

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        pairs = zip(jacobian, state, strict=True)
        return total(j.kronecker_variance(*_factors(j, log_std)) for j, log_std in pairs)

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        triples = zip(jacobian, other, state, strict=True)
        return total(j.kronecker_gram(*_factors(j, log_std), o) for j, o, log_std in triples)


def _factors(jacobian: AbstractJacobian, log_std: Array) -> tuple[Array, Array]:
    """std^2 I as a Kronecker product, which is far cheaper to multiply by than a diagonal."""
    rows, columns = jacobian.matrix_shape
    return jnp.exp(log_std) * jnp.eye(rows, dtype=log_std.dtype), jnp.eye(
        columns, dtype=log_std.dtype
    )


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    return (math.prod(shape[:-1]), shape[-1]) if shape else (1, 1)
