"""Inference maps a model to a model."""

from abc import abstractmethod
from typing import ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import equinox as eqx
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.outputs import check_outputs
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.training.history import Fit

P = TypeVar("P", bound=AbstractRandomFunction)
"""The kind of prior that a method works with."""

_REMEDIES = {
    BayesianNetwork: "needs a prior over weights (BayesianNetwork); got {got}. "
    "For a Gaussian-process prior use GFSVI.",
    GaussianProcess: "needs a prior over functions (GaussianProcess); got {got}. "
    "For a prior over weights use MFVI or Laplace.",
}


@runtime_checkable
class Precompiled(Protocol):
    """A method that takes long to compile and can be compiled before the prior is chosen."""

    def precompile(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> None:
        """Compile what fitting such a model to such data takes, without running it."""
        ...


class AbstractMethod(eqx.Module, Generic[P]):
    """An inference method, for the kind of prior that it can work with.

    `needs_conjugate` says that it works with conjugate likelihoods only.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]]
    needs_conjugate: ClassVar[bool] = False

    @abstractmethod
    def __call__(
        self,
        model: Model[P, AbstractLikelihood],
        data: Data,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
    ) -> Fit:
        """Fit the model to `data`; methods that can stop early do so by `validation`."""

    def check_prior(self, model: Model) -> None:
        """Raise if this method cannot work with the model's prior."""
        if isinstance(model.function, self.prior_kind):
            return
        name, got = type(self).__name__, type(model.function).__name__
        remedy = _REMEDIES.get(self.prior_kind, "needs another kind of prior; got {got}.")
        raise TypeError(f"{name} {remedy.format(got=got)}")

    def check(self, model: Model, data: Data, network: AbstractNetwork | None = None) -> None:
        """Raise if the prior is of the wrong kind, or prior or network do not match the data."""
        self.check_prior(model)
        check_outputs(model, data, network)
