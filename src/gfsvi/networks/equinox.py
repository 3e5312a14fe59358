"""Equinox modules."""

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque, as_inputs


class EquinoxNetwork(AbstractForeignNetwork):
    """An Equinox module that maps one example to its outputs; its weights are the initial ones."""

    module: Opaque = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        special = (eqx.nn.StateIndex, eqx.nn.Dropout)
        nodes = jax.tree.leaves(self.module.content, is_leaf=lambda node: isinstance(node, special))
        if any(isinstance(node, eqx.nn.StateIndex) for node in nodes):
            raise self.hidden_state_error("eqx.nn.StateIndex, as in eqx.nn.BatchNorm")
        if any(isinstance(node, eqx.nn.Dropout) and not node.inference for node in nodes):
            raise self.randomness_error("Disable it: eqx.nn.inference_mode(module).")

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        return eqx.filter(self.module.content, eqx.is_inexact_array)

    def apply(self, params: Params, x: Inputs) -> Outputs:
        fixed = eqx.filter(self.module.content, eqx.is_inexact_array, inverse=True)
        outputs = jax.vmap(eqx.combine(params, fixed))(as_inputs(x, params))
        return self.checked_outputs(outputs, x)
