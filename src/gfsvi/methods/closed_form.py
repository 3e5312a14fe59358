"""GFSVI in closed form: the mean trained, the covariance computed."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.conjugate import EPS, Interpolation, tangents_of
from gfsvi.inference.conjugate_fit import (
    conjugate_posterior,
    natural_gradient_posterior,
    with_chosen_noise,
)
from gfsvi.inference.evidence import no_history
from gfsvi.inference.mean_fit import AbstractMeanFit, AutoMean, draw_points
from gfsvi.inference.outputs import check_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.precision import double
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.history import Fit
from gfsvi.training.steps import Where


class ClosedForm(AbstractMethod):
    """Train the mean of a network, then compute the best Gaussian around it in closed form.

    The posterior that GFSVI approaches by gradient steps, reached in one factorisation.

    Args:
        network: Any network; its outputs must match the likelihood.
        mean: How the mean is fitted.
        points: Measurement points beside the training inputs.
        gamma: The regulariser of the prior at the measurement points.
        eps: Regularises the tangent kernel, as a share of its mean variance.
        max_rows_as_points: Up to this many rows all are measurement points; of more, a random
            choice.
        dtype: Precision of the network while its mean is fitted.
        fixed: Picks the parts of the model that stay as they are; with anything fixed, the noise
            is.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    network: AbstractNetwork = MLP()
    mean: AbstractMeanFit = AutoMean()
    points: AbstractPoints = UniformBox(100)
    gamma: float = eqx.field(static=True, default=1e-10)
    eps: float = eqx.field(static=True, default=EPS)
    max_rows_as_points: int = eqx.field(static=True, default=1000)
    dtype: DTypeLike = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data, self.network)
        mean_key, points_key = jax.random.split(key)
        mean = GFSVI(self.network, gamma=self.gamma, mean=self.mean, dtype=self.dtype)
        start = mean.initial(model, data, key=mean_key, validation=validation)
        interpolation = Interpolation.at(
            tangents_of(self.network, start.function.params),
            model.function,
            self._points(data, points_key),
            gamma=self.gamma,
            eps=self.eps,
        )
        return Fit(self._posterior(interpolation, model, data), no_history())

    def _posterior(self, interpolation: Interpolation, model: Model, data: Data) -> Model:
        if not model.likelihood.conjugate:
            return natural_gradient_posterior(interpolation, model, data)
        step = 1.0
        if self.fixed is None:
            model, step = with_chosen_noise(interpolation, model, data)
        return conjugate_posterior(interpolation, model, data, step=step)

    def _points(self, data: Data, key: PRNGKeyArray) -> np.ndarray:
        most = self.max_rows_as_points
        rows = FixedPoints() if len(data) <= most else BatchRows(most)
        points = Mixture((rows, self.points)).bind(data.x)
        return np.unique(np.asarray(draw_points(points, jnp.asarray(data.x), key)), axis=0)
