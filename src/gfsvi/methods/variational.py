"""What methods that maximise an evidence lower bound have in common."""

from abc import abstractmethod
from typing import cast

import jax
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.inference.elbo import Plan, Variational, maximize_elbo
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod, P
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit


class AbstractVariational(AbstractMethod[P]):
    """A method that maximises an evidence lower bound by gradient steps.

    A subclass has the fields of `gfsvi.inference.elbo.Variational` and states its `plan`.
    """

    @abstractmethod
    def plan(self, model: Model[P, AbstractLikelihood], data: Data, *, key: PRNGKeyArray) -> Plan:
        """Where to start and what to maximise; raise if model and data do not match."""

    @double
    def __call__(
        self,
        model: Model[P, AbstractLikelihood],
        data: Data,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
    ) -> Fit:
        start_key, train_key = jax.random.split(key)
        plan = self.plan(model, data, key=start_key)
        fields = cast(Variational, self)
        return maximize_elbo(fields, plan, model, data, key=train_key, validation=validation)
