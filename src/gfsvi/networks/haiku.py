"""Haiku functions."""

import inspect
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, Opaque, as_inputs


class HaikuNetwork(AbstractForeignNetwork):
    """A forward function that uses Haiku modules, plain or already transformed."""

    function: Opaque = eqx.field(static=True, converter=Opaque)

    def __check_init__(self) -> None:
        import haiku as hk

        if isinstance(self.function.content, hk.TransformedWithState):
            raise self.hidden_state_error("hk.transform_with_state")

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        try:
            params = self._transformed().init(key, x[:1])
            # A key is available for making parameters, but not for calling the network.
            jax.eval_shape(self.apply, params, x[:1])
        except ValueError as error:
            raise self._explained(error) from error
        return params

    def apply(self, params: Params, x: Inputs) -> Outputs:
        apply = self._transformed().apply
        key = (None,) if "rng" in inspect.signature(apply).parameters else ()
        return self.checked_outputs(apply(params, *key, as_inputs(x, params)), x)

    def _transformed(self) -> Any:
        import haiku as hk

        function = self.function.content
        return function if isinstance(function, hk.Transformed) else hk.transform(function)

    def _explained(self, error: ValueError) -> ValueError:
        # Haiku does not export these error classes.
        if type(error).__name__ == "NonEmptyStateError":
            return self.hidden_state_error("hk.get_state or hk.set_state")
        if type(error).__name__ == "MissingRNGError":
            return self.randomness_error("Remove hk.dropout from the function.")
        return error
