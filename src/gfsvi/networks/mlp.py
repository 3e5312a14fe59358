"""The multilayer perceptron."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from gfsvi.networks.layered import AbstractAffineStage, AbstractLayeredNetwork, AbstractStage
from gfsvi.networks.layers import Activation, Dense, Flatten


class MLP(AbstractLayeredNetwork):
    """Dense layers with an activation between them."""

    hidden: tuple[int, ...] = eqx.field(static=True, default=(100, 100), converter=tuple)
    outputs: int = eqx.field(static=True, default=1)
    activation: Callable[[Array], Array] = eqx.field(static=True, default=jnp.tanh)

    @property
    def stages(self) -> tuple[AbstractStage | AbstractAffineStage, ...]:
        layers = [
            stage for width in self.hidden for stage in (Dense(width), Activation(self.activation))
        ]
        return (Flatten(), *layers, Dense(self.outputs))
