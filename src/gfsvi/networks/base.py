"""Networks: a function of parameters and inputs, and how its outputs move with its parameters.

The library never looks inside a network that it does not know: `apply(params, x)` is enough.
Networks made of affine stages (`AbstractLayeredNetwork`) give their Jacobian as layer factors,
which is what makes variances and Gram matrices cheap.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.networks.jacobian import Jacobian

Params = Any


Inputs = Float[Array, "point *feature"]


Outputs = Float[Array, "point output"]


class AbstractNetwork(eqx.Module):
    """A network: parameters to begin with, outputs, and their Jacobian."""

    @abstractmethod
    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: Any = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        """Parameters to start from, for inputs like `x`.

        A network that can starts out varying along each feature on the given `lengths`.
        """

    @abstractmethod
    def apply(self, params: Params, x: Inputs) -> Outputs:
        """Outputs at `x`."""

    @abstractmethod
    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        """Outputs at `x`, and derivatives of `outputs @ f(x)` by every leaf of the parameters."""

    @abstractmethod
    def jacobian_size(self, params: Params) -> int:
        """How many numbers the Jacobian of one output at one point holds."""

    def jacobian(self, params: Params, x: Inputs, outputs: Float[Array, "k output"]) -> Jacobian:
        """The derivatives alone."""
        return self.linearize(params, x, outputs)[1]
