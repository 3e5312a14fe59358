"""Networks: functions of parameters and inputs, and their Jacobians by the parameters.

For a network of another framework, `apply(params, x)` is enough. Networks made of affine stages
(`AbstractLayeredNetwork`) give their Jacobian as factors per layer, which makes variances and
Gram matrices cheap.
"""

from abc import abstractmethod
from typing import TypeAlias

import equinox as eqx
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.networks.jacobian import Jacobian
from gfsvi.numerics.types import Points

Params: TypeAlias = PyTree
"""The parameters of a network: any tree of arrays."""
Inputs: TypeAlias = Points
Outputs: TypeAlias = Float[Array, "point output"]


class AbstractNetwork(eqx.Module):
    """A network: initial parameters, outputs, and their Jacobian."""

    @abstractmethod
    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: DTypeLike = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        """Initial parameters for inputs like `x`.

        Networks that support it initially vary on the length scale `lengths` along each feature.
        """

    @abstractmethod
    def apply(self, params: Params, x: Inputs) -> Outputs:
        """Outputs at `x`."""

    @abstractmethod
    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        """Outputs at `x`, and the derivatives of `outputs @ f(x)` by each leaf of `params`."""

    @abstractmethod
    def jacobian_size(self, params: Params) -> int:
        """Number of elements that the Jacobian of one output at one point holds."""

    def jacobian(self, params: Params, x: Inputs, outputs: Float[Array, "k output"]) -> Jacobian:
        """The derivatives alone."""
        return self.linearize(params, x, outputs)[1]
