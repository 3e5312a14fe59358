"""Deep ensembles: networks trained from different starts (Lakshminarayanan et al. 2017)."""

import equinox as eqx

from gfsvi.methods.point_estimate import AbstractPointEstimate
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training


class DeepEnsemble(AbstractPointEstimate):
    """Train several networks from different starts; their disagreement is the uncertainty.

    Args:
        num_members: Number of networks.
        training: Steps, batches and learning rate.
    """

    num_members: int = eqx.field(static=True, default=5)
    training: Training = eqx.field(
        static=True, default=Training(num_steps=2000, optimizer=Adam(5e-3), evaluate_every=50)
    )

    def __check_init__(self) -> None:
        if self.num_members < 1:
            raise ValueError(
                f"DeepEnsemble expects at least one member; got num_members={self.num_members}."
            )
