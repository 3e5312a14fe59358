"""Deep ensembles: networks trained from different starts (Lakshminarayanan et al. 2017)."""

from typing import ClassVar

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.outputs import check_outputs
from gfsvi.inference.point_estimate import most_probable
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training


class DeepEnsemble(AbstractMethod):
    """Train several networks from different starts; where they disagree, little is known.

    Args:
        num_members: How many networks.
        training: Steps, batches, learning rate.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    num_members: int = eqx.field(static=True, default=5)
    training: Training = eqx.field(
        static=True, default=Training(num_steps=2000, optimizer=Adam(5e-3), evaluate_every=50)
    )

    def __check_init__(self) -> None:
        if self.num_members < 1:
            raise ValueError(
                f"DeepEnsemble expects at least one member; got num_members={self.num_members}."
            )

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data)
        return most_probable(
            model,
            data,
            self.training,
            num_members=self.num_members,
            key=key,
            validation=validation,
        )
