"""Exact inference in a Gaussian process with Gaussian noise: the reference for everything else."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.function import AbstractRandomFunction
from gfsvi.functions.conditioned_process import ConditionedProcess
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.method import AbstractMethod
from gfsvi.model import Model
from gfsvi.precision import double
from gfsvi.training import Fit, History


class ExactGP(AbstractMethod):
    """Condition a Gaussian process on the data in closed form."""

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        if not isinstance(model.likelihood, (Normal, WarpedNormal)):
            raise TypeError(
                "ExactGP needs Normal or WarpedNormal as likelihood, which keep it exact; got "
                f"{type(model.likelihood).__name__}. For other likelihoods use GFSVI."
            )
        targets = model.likelihood.gaussian_targets(data.y)
        x = jnp.asarray(data.x, jnp.float64)
        function = ConditionedProcess.given(model.function, x, targets.values, targets.variance)
        history = History({}, np.zeros(0, int), np.zeros(0), 0)
        return Fit(Model(function, model.likelihood), history)
