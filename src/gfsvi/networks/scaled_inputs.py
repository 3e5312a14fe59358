"""A network that measures its inputs in given units."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.jacobian import Jacobian
from gfsvi.network import AbstractNetwork, Inputs, Outputs, Params


class ScaledInputs(AbstractNetwork):
    """`network` at `(x - centre) / scale`, with the units fixed."""

    network: AbstractNetwork
    centre: Float[Array, " feature"]
    scale: Float[Array, " feature"]

    def init(self, x: Inputs, *, key: PRNGKeyArray, dtype: Any = jnp.float32) -> Params:
        return self.network.init(self._scaled(x), key=key, dtype=dtype)

    def apply(self, params: Params, x: Inputs) -> Outputs:
        return self.network.apply(params, self._scaled(x))

    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        return self.network.linearize(params, self._scaled(x), outputs)

    def jacobian_size(self, params: Params) -> int:
        return self.network.jacobian_size(params)

    def _scaled(self, x: Inputs) -> Inputs:
        x = jnp.asarray(x)
        centre, scale = (jnp.asarray(unit, x.dtype) for unit in (self.centre, self.scale))
        return (x - centre) / scale
