"""Sparse variational Gaussian processes: a process known at a few inducing points."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.sparse_process import SparseProcess
from gfsvi.inference.calibration import AbstractCalibration, HeldOut, with_share
from gfsvi.inference.elbo import Elbo, maximize_elbo
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.initialization import MAX_NOISE_ROWS
from gfsvi.inference.outputs import check_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.clustering import cluster_centres
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.linalg import add_to_diagonal, normal_log_density
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.training.history import Fit
from gfsvi.training.settings import Training
from gfsvi.training.steps import Where


class SparseGP(AbstractMethod):
    """Fit a sparse process, its inducing points, kernel and likelihood together (Hensman 2013).

    Args:
        num_inducing: Inducing points at most; there are never more than distinct rows.
        training: Steps, batches, learning rate.
        fixed: Picks the parts of the model that stay as they are, for example
            `lambda model: [model.function.prior, model.likelihood]`.
        calibration: How held-out rows, where given, set the noise.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    num_inducing: int = eqx.field(static=True, default=100)
    training: Training = eqx.field(static=True, default=Training(num_steps=1500))
    fixed: Where | None = eqx.field(static=True, default=None)
    calibration: AbstractCalibration = HeldOut()

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data)
        start_key, train_key = jax.random.split(key)
        return maximize_elbo(
            self,
            Elbo(CoefficientDivergence()),
            self.initial(model, data, key=start_key),
            model,
            data,
            key=train_key,
            validation=validation,
            remedy="Standardise the data, lower the learning rate, or start from larger noise.",
        )

    @double
    def initial(self, model: Model, data: Data, *, key: PRNGKeyArray) -> Model:
        """The posterior before training: best for the kernel and noise as they are.

        Noise that suits all rows may be far too small for a few inducing points: where it is
        learned it is fitted to them first.
        """
        centre_key, noise_key = jax.random.split(key)
        inducing = cluster_centres(data.x, self.num_inducing, key=centre_key)
        start = _closed_form_start(model, data, inducing)
        if self.fixed is not None:
            return start
        few = data.thinned(MAX_NOISE_ROWS)
        likelihood = with_share(start, few, 1.0, key=noise_key).likelihood
        return _closed_form_start(Model(model.function, likelihood), data, inducing)


class CoefficientDivergence(eqx.Module):
    """The KL between whitened coefficients and N(0, I), which all inducing points share."""

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        return model.function.divergence, {}


@double
def collapsed_bound(model: Model, data: Data, inducing: Points) -> Float[Array, ""]:
    """The evidence lower bound under the best coefficients, for Gaussian noise (Titsias 2009)."""
    targets = targets_of(model, data)
    prior = model.function.at(data.x)
    features = SparseProcess.like(model.function, jnp.asarray(inducing)).features(data.x)
    explained = jnp.swapaxes(features, -1, -2) @ features
    left = prior.variance - jnp.diagonal(explained, axis1=-2, axis2=-1)
    unexplained = jnp.sum(left / targets.variance) / 2
    density = normal_log_density(
        targets.values - prior.mean, add_to_diagonal(explained, targets.variance)
    )
    return density + jnp.sum(targets.log_factor) - unexplained


@jit_fast_compile
def _closed_form_start(model: Model, data: Data, inducing: Points) -> Model:
    """The best process for the model as it is, or for the Gaussian stand-in of its likelihood."""
    targets = targets_of(model, data)
    function = SparseProcess.given(
        model.function, inducing, data.x, targets.values, targets.variance
    )
    return Model(function, model.likelihood)
