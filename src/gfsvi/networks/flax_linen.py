"""Flax linen modules."""

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


class LinenNetwork(AbstractForeignNetwork):
    """A Flax linen module that maps all points at once."""

    module: Any = eqx.field(static=True, converter=Opaque)

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        variables = dict(self.module.content.init(key, x[:1]))
        params = variables.pop("params", {})
        if variables:
            raise hidden_state_error(self, ", ".join(sorted(variables)))
        self._check_randomness(params, x)
        return params

    def apply(self, params: Params, x: Inputs) -> Outputs:
        outputs = self.module.content.apply({"params": params}, as_inputs(x, params))
        return checked_outputs(self, outputs, x)

    def _check_randomness(self, params: Params, x: Inputs) -> None:
        from flax.errors import InvalidRngError

        try:  # linen lends dropout a key while it makes parameters, but not here
            jax.eval_shape(self.apply, params, x[:1])
        except InvalidRngError as error:
            remedy = "Switch it off: nn.Dropout(rate, deterministic=True)."
            raise randomness_error(self, remedy) from error
