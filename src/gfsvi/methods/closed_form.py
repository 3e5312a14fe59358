"""GFSVI in closed form: the mean trained, the covariance computed."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.conjugate import EPS, Interpolation, tangents_of
from gfsvi.inference.conjugate_fit import conjugate_posterior, natural_gradient_posterior
from gfsvi.inference.evidence import no_history
from gfsvi.inference.mean_fit import AbstractMeanFit, AutoMean, draw_points
from gfsvi.inference.outputs import check_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.precision import double
from gfsvi.points import BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.history import Fit


class ClosedForm(AbstractMethod):
    """Train the mean of a network, then compute the best Gaussian around it in closed form.

    The posterior that GFSVI approaches by gradient steps, reached in one factorisation.

    Args:
        network: Any network; its outputs must match the likelihood.
        mean: How the mean is fitted.
        gamma: The regulariser of the prior at the measurement points.
        eps: Regularises the tangent kernel, as a share of its mean variance.
        max_rows_as_points: Up to this many rows all are measurement points; of more, a random
            choice.
        num_box_points: Further measurement points, uniform in a box around the rows.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    network: AbstractNetwork = MLP()
    mean: AbstractMeanFit = AutoMean()
    gamma: float = eqx.field(static=True, default=1e-10)
    eps: float = eqx.field(static=True, default=EPS)
    max_rows_as_points: int = eqx.field(static=True, default=1000)
    num_box_points: int = eqx.field(static=True, default=100)

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data, self.network)
        mean_key, points_key = jax.random.split(key)
        mean = GFSVI(self.network, gamma=self.gamma, mean=self.mean)
        start = mean.initial(model, data, key=mean_key, validation=validation)
        interpolation = Interpolation.at(
            tangents_of(self.network, start.function.params),
            model.function,
            self._points(data, points_key),
            gamma=self.gamma,
            eps=self.eps,
        )
        fit = conjugate_posterior if model.likelihood.conjugate else natural_gradient_posterior
        return Fit(fit(interpolation, model, data), no_history())

    def _points(self, data: Data, key: PRNGKeyArray) -> np.ndarray:
        most = self.max_rows_as_points
        rows = FixedPoints() if len(data) <= most else BatchRows(most)
        points = Mixture((rows, UniformBox(self.num_box_points))).bind(data.x)
        return np.unique(np.asarray(draw_points(points, jnp.asarray(data.x), key)), axis=0)
