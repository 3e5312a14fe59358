"""Flax NNX modules."""

from typing import Any

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import (
    AbstractForeignNetwork,
    Opaque,
    as_inputs,
    checked_outputs,
    hidden_state_error,
    randomness_error,
)


class FlaxNNXNetwork(AbstractForeignNetwork):
    """A Flax NNX module that maps all points at once; its own weights are the start."""

    module: Any = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        from flax import nnx

        dropouts = [n for _, n in nnx.iter_graph(self.module.content) if isinstance(n, nnx.Dropout)]
        if any(node.rate > 0 and not node.deterministic for node in dropouts):
            raise randomness_error(self, "Switch it off: module.eval().")
        state = nnx.state(self.module.content, nnx.Not(nnx.Any(nnx.Param, nnx.RngState)))
        kinds = {type(variable).__name__ for _, variable in nnx.to_flat_state(state)}
        if kinds:
            raise hidden_state_error(self, ", ".join(sorted(kinds)))

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        from flax import nnx

        return nnx.to_pure_dict(nnx.state(self.module.content, nnx.Param))

    def apply(self, params: Params, x: Inputs) -> Outputs:
        from flax import nnx

        definition, _, fixed = nnx.split(self.module.content, nnx.Param, ...)
        module = nnx.merge(definition, nnx.State(params), fixed)
        return checked_outputs(self, module(as_inputs(x, params)), x)
