"""Equinox modules."""

from typing import Any

import equinox as eqx
import jax
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


class EquinoxNetwork(AbstractForeignNetwork):
    """An Equinox module that maps one example to its outputs; its own weights are the start."""

    module: Any = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        special = (eqx.nn.StateIndex, eqx.nn.Dropout)
        nodes = jax.tree.leaves(self.module.content, is_leaf=lambda node: isinstance(node, special))
        if any(isinstance(node, eqx.nn.StateIndex) for node in nodes):
            raise hidden_state_error(self, "eqx.nn.StateIndex, as in eqx.nn.BatchNorm")
        if any(isinstance(node, eqx.nn.Dropout) and not node.inference for node in nodes):
            raise randomness_error(self, "Switch it off: eqx.nn.inference_mode(module).")

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        return eqx.filter(self.module.content, eqx.is_inexact_array)

    def apply(self, params: Params, x: Inputs) -> Outputs:
        fixed = eqx.filter(self.module.content, eqx.is_inexact_array, inverse=True)
        outputs = jax.vmap(eqx.combine(params, fixed))(as_inputs(x, params))
        return checked_outputs(self, outputs, x)
