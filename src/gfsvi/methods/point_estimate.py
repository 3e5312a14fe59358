"""What methods that train networks to their most probable weights have in common."""

from typing import ClassVar, Protocol, cast

from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.models import BNNModel, EnsembleModel, K
from gfsvi.inference.point_estimate import most_probable
from gfsvi.methods.base import AbstractMethod
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit
from gfsvi.training.settings import Training


class _Fields(Protocol):
    @property
    def num_members(self) -> int: ...
    @property
    def training(self) -> Training: ...


class AbstractPointEstimate(AbstractMethod[BayesianNetwork]):
    """A method that trains networks, each to the most probable weights near its start.

    A subclass says how many (`num_members`) and how (`training`).
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    @double
    def __call__(
        self, model: BNNModel[K], data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit[EnsembleModel[K]]:
        self.check(model, data)
        fields = cast(_Fields, self)
        return most_probable(
            model,
            data,
            fields.training,
            num_members=fields.num_members,
            key=key,
            validation=validation,
        )
