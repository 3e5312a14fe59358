"""A network whose outputs form a vector field: the derivatives of two potentials."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gfsvi.networks.base import AbstractNetwork, Inputs, Outputs, Params
from gfsvi.networks.foreign import AbstractForeignNetwork, as_inputs
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.field_rows import rotated, split_rows


class HelmholtzNetwork(AbstractForeignNetwork):
    """The field grad potential + rot stream of two networks on the plane.

    Rows are (x1, x2, component), from `fields.rows_at`; the single output is that component.

    Args:
        potential: Network of the potential; its activation must be differentiable.
        stream: Network of the stream function.
    """

    potential: AbstractNetwork = MLP((50, 50))
    stream: AbstractNetwork = MLP((50, 50))

    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        positions, _ = split_rows(x, "HelmholtzNetwork")
        networks = {"potential": self.potential, "stream": self.stream}
        keys = dict(zip(networks, jax.random.split(key), strict=True))
        return {name: net.init(positions, key=keys[name]) for name, net in networks.items()}

    def apply(self, params: Params, x: Inputs) -> Outputs:
        positions, components = split_rows(as_inputs(x, params), "HelmholtzNetwork")
        field = _gradient(self.potential, params["potential"], positions)
        field += rotated(_gradient(self.stream, params["stream"], positions))
        return jnp.sum(components * field, axis=1, keepdims=True)


def _gradient(network: AbstractNetwork, params: Params, positions: Inputs) -> Outputs:
    """The gradient at each position; positions are independent, so one sum serves all."""
    return jax.grad(lambda p: jnp.sum(network.apply(params, p)))(positions)
