"""The paper's convolutional network."""

from collections.abc import Callable

import equinox as eqx
import jax
from jaxtyping import Array

from gfsvi.networks.layered import AbstractAffineStage, AbstractLayeredNetwork, AbstractStage
from gfsvi.networks.layers import Activation, Convolution, Dense, Flatten, MaxPool


class CNN(AbstractLayeredNetwork):
    """3 x 3 convolutions with max-pooling between them, a dense layer and an output layer.

    Inputs are images `(point, height, width, channel)`.
    """

    channels: tuple[int, ...] = eqx.field(static=True, default=(16, 32, 64), converter=tuple)
    hidden: int = eqx.field(static=True, default=128)
    outputs: int = eqx.field(static=True, default=10)
    activation: Callable[[Array], Array] = eqx.field(static=True, default=jax.nn.relu)

    @property
    def stages(self) -> tuple[AbstractStage | AbstractAffineStage, ...]:
        act = Activation(self.activation)
        blocks = [
            stage for width in self.channels for stage in (Convolution(width), act, MaxPool())
        ]
        return (*blocks[:-1], Flatten(), Dense(self.hidden), act, Dense(self.outputs))
