"""The most probable weights alone: what ordinary training of a network finds."""

from typing import ClassVar

import equinox as eqx

from gfsvi.methods.point_estimate import AbstractPointEstimate
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training


class MAP(AbstractPointEstimate):
    """The most probable weights, with no uncertainty but the noise.

    Args:
        training: Steps, batches and learning rate.
    """

    num_members: ClassVar[int] = 1

    training: Training = eqx.field(
        static=True, default=Training(num_steps=2000, optimizer=Adam(5e-3), evaluate_every=50)
    )
