"""Any function of parameters and inputs."""

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque, as_inputs


class FunctionNetwork(AbstractForeignNetwork):
    """A network that is a function `(params, x) -> outputs`.

    Args:
        function: Takes a tree of arrays and all points; returns outputs (point, output).
        start: The initial parameters, or a function `(x, key) -> params` that makes them.
    """

    function: Opaque = eqx.field(static=True, converter=Opaque)
    start: Opaque = eqx.field(static=True, default=None, converter=Opaque)

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        start = self.start.content
        if start is None:
            raise ValueError(
                "FunctionNetwork expects initial parameters; got none. Pass them, or a function "
                "(x, key) that makes them: FunctionNetwork(apply, params)."
            )
        return start(x, key) if callable(start) else start

    def apply(self, params: Params, x: Inputs) -> Outputs:
        return self.checked_outputs(self.function.content(params, as_inputs(x, params)), x)
