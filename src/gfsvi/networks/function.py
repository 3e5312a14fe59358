"""Any function of parameters and inputs."""

from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque, as_inputs, checked_outputs


class FunctionNetwork(AbstractForeignNetwork):
    """A network that is a function `(params, x) -> outputs`.

    Args:
        function: takes a tree of arrays and all points, gives (point, output).
        start: the parameters to start from, or a function `(x, key) -> params` that makes them.
    """

    function: Any = eqx.field(static=True, converter=Opaque)
    start: Any = eqx.field(static=True, default=None, converter=Opaque)

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        start = self.start.content
        if start is None:
            raise ValueError(
                "FunctionNetwork expects parameters to start from; got none. Pass them, or a "
                "function (x, key) that makes them: FunctionNetwork(apply, params)."
            )
        return start(x, key) if callable(start) else start

    def apply(self, params: Params, x: Inputs) -> Outputs:
        return checked_outputs(self, self.function.content(params, as_inputs(x, params)), x)
