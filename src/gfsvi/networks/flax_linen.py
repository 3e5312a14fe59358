"""Flax linen modules."""

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque, as_inputs


class LinenNetwork(AbstractForeignNetwork):
    """A Flax linen module that maps all points at once."""

    module: Opaque = eqx.field(static=True, converter=Opaque)

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        variables = dict(self.module.content.init(key, x[:1]))
        params = variables.pop("params", {})
        if variables:
            raise self.hidden_state_error(", ".join(sorted(variables)))
        self._check_randomness(params, x)
        return params

    def apply(self, params: Params, x: Inputs) -> Outputs:
        outputs = self.module.content.apply({"params": params}, as_inputs(x, params))
        return self.checked_outputs(outputs, x)

    def _check_randomness(self, params: Params, x: Inputs) -> None:
        from flax.errors import InvalidRngError

        try:  # linen gives dropout a key when it makes parameters, but not here
            jax.eval_shape(self.apply, params, x[:1])
        except InvalidRngError as error:
            remedy = "Disable it: nn.Dropout(rate, deterministic=True)."
            raise self.randomness_error(remedy) from error
