"""The most probable weights alone: what ordinary training of a network finds."""

from typing import ClassVar

import equinox as eqx

from gfsvi.methods.point_estimate import AbstractPointEstimate
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training


class MAP(AbstractPointEstimate):
    """Maximise likelihood times prior over the weights; only the noise is uncertain.

    Args:
        training: Steps, batches and learning rate.
    """

    num_members: ClassVar[int] = 1

    training: Training = eqx.field(
        static=True, default=Training(num_steps=2000, optimizer=Adam(5e-3), evaluate_every=50)
    )
