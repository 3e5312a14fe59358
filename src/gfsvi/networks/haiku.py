"""Haiku functions."""

import inspect
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


class HaikuNetwork(AbstractForeignNetwork):
    """A forward function that uses Haiku modules, plain or already transformed."""

    function: Any = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        import haiku as hk

        if isinstance(self.function.content, hk.TransformedWithState):
            raise hidden_state_error(self, "hk.transform_with_state")

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        try:
            params = self._transformed().init(key, x[:1])
            # Making parameters has a key to draw from; calling the network has none.
            jax.eval_shape(self.apply, params, x[:1])
        except ValueError as error:
            raise self._explained(error) from error
        return params

    def apply(self, params: Params, x: Inputs) -> Outputs:
        apply = self._transformed().apply
        key = (None,) if "rng" in inspect.signature(apply).parameters else ()
        return checked_outputs(self, apply(params, *key, as_inputs(x, params)), x)

    def _transformed(self) -> Any:
        import haiku as hk

        function = self.function.content
        return function if isinstance(function, hk.Transformed) else hk.transform(function)

    def _explained(self, error: ValueError) -> ValueError:
        # Haiku has names for these errors, but does not export them.
        if type(error).__name__ == "NonEmptyStateError":
            return hidden_state_error(self, "hk.get_state or hk.set_state")
        if type(error).__name__ == "MissingRNGError":
            return randomness_error(self, "Leave hk.dropout out of the function.")
        return error
