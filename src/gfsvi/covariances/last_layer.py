"""Uncertainty in the last layer only; the layers before it are fixed features."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.covariances.full import Full
from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import Grams, Jacobian, Variances


class LastLayer(AbstractCovariance):
    """A full covariance over the last `num_leaves` parameter arrays, zero elsewhere.

    The library's own networks store a layer in one array, Equinox modules in two: weight and
    bias.
    """

    num_leaves: int = eqx.field(static=True, default=1)
    initial_std: float = eqx.field(static=True, default=0.0067)

    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        return self._full.init(self._last(params), key=key)

    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        return self._full.variance(state, jacobian[-self.num_leaves :])

    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        last = jacobian[-self.num_leaves :]
        same = jacobian is other
        return self._full.gram(state, last, last if same else other[-self.num_leaves :])

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        leaves, structure = jax.tree.flatten(params)
        drawn = self._full.sample(state, self._last(params), key=key)
        fixed = [jnp.zeros_like(leaf) for leaf in leaves[: -self.num_leaves]]
        return jax.tree.unflatten(structure, [*fixed, *drawn])

    def _last(self, params: Params) -> list[Float[Array, "..."]]:
        return jax.tree.leaves(params)[-self.num_leaves :]

    @property
    def _full(self) -> Full:
        return Full(self.initial_std)
