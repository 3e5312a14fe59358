"""Exact inference in a Gaussian process with Gaussian noise: the reference for all methods."""

from typing import ClassVar, TypeAlias

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.conditioned_process import ConditionedProcess
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.calibration import AbstractCalibration, NoCalibration
from gfsvi.inference.evidence import log_evidence, most_probable, no_history, targets_of
from gfsvi.inference.models import GPModel, K
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit
from gfsvi.training.steps import Where

MAX_ROWS = 20_000
ConditionedModel: TypeAlias = Model[ConditionedProcess, K]


class ExactGP(AbstractMethod[GaussianProcess]):
    """Condition a Gaussian process on the data in closed form.

    Args:
        num_starts: Number of starts from which to maximise the log marginal likelihood first;
            0 keeps the model's parameters.
        fixed: Picks the parts of the model that always stay fixed.
        calibration: How held-out rows, if given, set the noise of predictions; the default
            ignores them and gives the exact posterior.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess
    needs_conjugate: ClassVar[bool] = True

    num_starts: int = eqx.field(static=True, default=0)
    fixed: Where | None = eqx.field(static=True, default=None)
    calibration: AbstractCalibration = NoCalibration()

    @double
    def __call__(
        self, model: GPModel[K], data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit[ConditionedModel[K]]:
        self._check(model, data)
        history = no_history()
        if self.num_starts > 0:
            fit = most_probable(
                log_evidence, model, data, self.num_starts, key=key, fixed=self.fixed
            )
            model, history = fit.posterior, fit.history
        targets = targets_of(model, data)
        x = jnp.asarray(data.x, jnp.float64)
        function = ConditionedProcess.given(model.function, x, targets.values, targets.variance)
        posterior = Model(function, model.likelihood)
        if validation is not None and self.fixed is None:
            posterior = self.calibration(posterior, validation, key=key, prior=model, data=data)
        return Fit(posterior, history)

    def _check(self, model: GPModel, data: Data) -> None:
        self.check_prior(model)
        if not model.likelihood.conjugate:
            raise TypeError(
                "ExactGP needs Normal or WarpedNormal as likelihood, which keep it exact; got "
                f"{type(model.likelihood).__name__}. For classes use GPClassifier, for other "
                "likelihoods use GFSVI or SparseGP."
            )
        self.check(model, data)
        if len(data) > MAX_ROWS:
            raise ValueError(
                f"ExactGP expects at most {MAX_ROWS} rows, whose Gram matrix takes 3 GB; got "
                f"{len(data)}. Use SparseGP, or fewer rows."
            )
