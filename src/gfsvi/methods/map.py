"""The most probable weights alone: what plain training of a network finds."""

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


class MAP(AbstractMethod):
    """Maximise likelihood times prior over the weights; nothing but the noise is uncertain.

    Args:
        training: Steps, batches, learning rate.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    training: Training = eqx.field(
        static=True, default=Training(num_steps=2000, optimizer=Adam(5e-3), evaluate_every=50)
    )

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data)
        return most_probable(
            model, data, self.training, num_members=1, key=key, validation=validation
        )
