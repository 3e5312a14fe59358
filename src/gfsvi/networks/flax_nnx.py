"""Flax NNX modules."""

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque, as_inputs


class FlaxNNXNetwork(AbstractForeignNetwork):
    """A Flax NNX module that maps all points at once; its weights are the initial ones."""

    module: Opaque = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        from flax import nnx

        dropouts = [n for _, n in nnx.iter_graph(self.module.content) if isinstance(n, nnx.Dropout)]
        if any(node.rate > 0 and not node.deterministic for node in dropouts):
            raise self.randomness_error("Disable it: module.eval().")
        state = nnx.state(self.module.content, nnx.Not(nnx.Any(nnx.Param, nnx.RngState)))
        kinds = {type(variable).__name__ for _, variable in nnx.to_flat_state(state)}
        if kinds:
            raise self.hidden_state_error(", ".join(sorted(kinds)))

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        from flax import nnx

        return nnx.to_pure_dict(nnx.state(self.module.content, nnx.Param))

    def apply(self, params: Params, x: Inputs) -> Outputs:
        from flax import nnx

        definition, _, fixed = nnx.split(self.module.content, nnx.Param, ...)
        module = nnx.merge(definition, nnx.State(params), fixed)
        return self.checked_outputs(module(as_inputs(x, params)), x)
