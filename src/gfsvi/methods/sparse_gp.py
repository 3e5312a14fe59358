"""Sparse variational Gaussian processes: a process summarised at a few inducing points."""

from typing import ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.sparse_process import SparseProcess
from gfsvi.inference.calibration import AbstractCalibration, HeldOut, with_share
from gfsvi.inference.elbo import Elbo, Plan
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.initialization import MAX_NOISE_ROWS
from gfsvi.inference.models import GPModel, K
from gfsvi.methods.variational import AbstractVariational
from gfsvi.model import Model
from gfsvi.numerics.clustering import cluster_centres
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.linalg import add_to_diagonal, normal_log_density
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where

SparseModel: TypeAlias = Model[SparseProcess, K]


class SparseGP(AbstractVariational[GaussianProcess]):
    """Fit a sparse process, its inducing points, kernel and likelihood together (Hensman 2013).

    Args:
        num_inducing: Maximum number of inducing points; never more than distinct rows.
        training: Steps, batches and learning rate.
        fixed: Picks the parts of the model that stay fixed, for example
            `lambda model: [model.function.prior, model.likelihood]`.
        calibration: How held-out rows, if given, set the noise.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    num_inducing: int = eqx.field(static=True, default=100)
    training: Training = eqx.field(static=True, default=Training(num_steps=1500))
    fixed: Where | None = eqx.field(static=True, default=None)
    calibration: AbstractCalibration = HeldOut()

    def plan(self, model: GPModel, data: Data, *, key: PRNGKeyArray) -> Plan:
        self.check(model, data)
        return Plan(
            self.initial(model, data, key=key),
            Elbo(CoefficientDivergence()),
            remedy="Standardise the data, lower the learning rate, or start from larger noise.",
        )

    @double
    def initial(self, model: GPModel, data: Data, *, key: PRNGKeyArray) -> SparseModel:
        """The posterior before training: the best one for the given kernel and noise.

        Noise that suits all rows may be far too small for a few inducing points, so noise that
        is learned is first fitted to them.
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
    """The KL between the whitened coefficients and N(0, I)."""

    def __call__(
        self, model: SparseModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        return model.function.divergence, {}


@double
def collapsed_bound(model: GPModel, data: Data, inducing: Points) -> Float[Array, ""]:
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
def _closed_form_start(model: GPModel, data: Data, inducing: Points) -> SparseModel:
    """The best process for this model, or for the Gaussian approximation of its likelihood."""
    targets = targets_of(model, data)
    function = SparseProcess.given(
        model.function, inducing, data.x, targets.values, targets.variance
    )
    return Model(function, model.likelihood)
