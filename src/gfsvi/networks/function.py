"""Any function of parameters and inputs."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.network import (
    AbstractForeignNetwork,
    Inputs,
    Opaque,
    Outputs,
    Params,
    as_inputs,
    checked_outputs,
    starting_params,
)


class FunctionNetwork(AbstractForeignNetwork):
    """A network that is a function `(params, x) -> outputs`.

    Args:
        function: takes a tree of arrays and all points, gives (point, output).
        start: the parameters to start from, or a function `(x, key) -> params` that makes them.
    """

    function: Any = eqx.field(static=True, converter=Opaque)
    start: Any = eqx.field(static=True, default=None, converter=Opaque)

    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: Any = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        start = self.start.content
        if start is None:
            raise ValueError(
                "FunctionNetwork expects parameters to start from; got none. Pass them, or a "
                "function (x, key) that makes them: FunctionNetwork(apply, params)."
            )
        params = start(jnp.asarray(x, dtype), key) if callable(start) else start
        return starting_params(self, params, dtype)

    def apply(self, params: Params, x: Inputs) -> Outputs:
        return checked_outputs(self, self.function.content(params, as_inputs(x, params)), x)
