"""Gaussian Wasserstein inference: a network as mean, a sparse process as covariance."""

from typing import ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, correlation_lengths
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.network_mean_process import NetworkMeanProcess
from gfsvi.functions.sparse_process import SparseProcess
from gfsvi.inference.calibration import AbstractCalibration, HeldOut, fixed_by_prior, with_share
from gfsvi.inference.elbo import Elbo, Plan
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.initialization import MAX_NOISE_ROWS, MAX_SCALED_FEATURES
from gfsvi.inference.models import GPModel, K
from gfsvi.inference.wasserstein import squared_wasserstein
from gfsvi.methods.variational import AbstractVariational
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.clustering import cluster_centres
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where

# Keeps the square root differentiable at a distance of zero.
SMALLEST_SQUARE = 1e-10

NetworkMeanModel: TypeAlias = Model[NetworkMeanProcess, K]


class GWI(AbstractVariational[GaussianProcess]):
    """A process whose mean is a network, kept near its prior in Wasserstein distance.

    Wild et al. (2022). The kernel stays as given: choose it beforehand with EmpiricalBayes.

    Args:
        network: Any network; its outputs must match the likelihood.
        num_inducing: Maximum number of inducing points of the covariance.
        num_points: Rows of a batch at which posterior and prior are compared.
        weight: Weight of the divergence per row of data; 1 is what the authors' code does with
            one batch, 1 / rows is their formula.
        squared: Whether to use the squared distance as divergence instead of the distance.
        training: Steps, batches and learning rate.
        dtype: Precision of the network; the linear algebra is always float64.
        fixed: Picks the parts of the model that stay fixed;
            by default the prior, the inducing points and a warp.
        calibration: How held-out rows, if given, set the noise.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    network: AbstractNetwork = MLP()
    num_inducing: int = eqx.field(static=True, default=100)
    num_points: int = eqx.field(static=True, default=100)
    weight: float = eqx.field(static=True, default=0.1)
    squared: bool = eqx.field(static=True, default=False)
    training: Training = eqx.field(
        static=True, default=Training(num_steps=1000, optimizer=Adam(3e-3), evaluate_every=20)
    )
    dtype: DTypeLike = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)
    calibration: AbstractCalibration = HeldOut()

    def plan(self, model: GPModel, data: Data, *, key: PRNGKeyArray) -> Plan:
        self.check(model, data, self.network)
        return Plan(
            self.initial(model, data, key=key),
            Elbo(self.divergence(model.function, data)),
            remedy="Standardise the data, or lower the learning rate.",
            fixed_by_default=_prior_and_inducing,
        )

    @double
    def initial(self, model: GPModel, data: Data, *, key: PRNGKeyArray) -> NetworkMeanModel:
        """A random network as mean, with the covariance of the best sparse process.

        If the noise is learned, it starts at the value that suits the untrained network.
        """
        centre_key, network_key, noise_key = jax.random.split(key, 3)
        inducing = cluster_centres(data.x, self.num_inducing, key=centre_key)
        vectors = np.ndim(data.x) == 2 and np.shape(data.x)[1] <= MAX_SCALED_FEATURES
        lengths = correlation_lengths(model.function, data.x) if vectors else None
        params = _first_params(self.network, data.x, self.dtype, lengths, key=network_key)
        function = NetworkMeanProcess(self.network, params, _best_spread(model, data, inducing))
        start = Model(function, model.likelihood)
        if self.fixed is not None:
            return start
        return with_share(start, data.thinned(MAX_NOISE_ROWS), 1.0, key=noise_key)

    def divergence(self, prior: GaussianProcess, data: Data) -> "Wasserstein":
        """The divergence from this prior, weighted for these data."""
        size = min(self.num_points, self.training.optimizer.rows_per_step(len(data)))
        return Wasserstein(prior, self.weight * len(data), size, self.squared)


class Wasserstein(eqx.Module):
    """A multiple of the Wasserstein distance at random rows of the batch."""

    prior: GaussianProcess
    weight: float
    num_points: int = eqx.field(static=True)
    squared: bool = eqx.field(static=True)

    def __call__(
        self, model: NetworkMeanModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        x = jax.random.permutation(key, batch.x)[: self.num_points]
        square = jnp.maximum(squared_wasserstein(model.function.at(x), self.prior.at(x)), 0)
        distance = jnp.sqrt(square + SMALLEST_SQUARE)
        return self.weight * (square if self.squared else distance), {"wasserstein": distance}


@jit_fast_compile
def _first_params(
    network: AbstractNetwork,
    x: Points,
    dtype: DTypeLike,
    lengths: Array | None,
    *,
    key: PRNGKeyArray,
) -> Params:
    return network.init(x, key=key, dtype=dtype, lengths=lengths)


@jit_fast_compile
def _best_spread(model: GPModel, data: Data, inducing: Points) -> SparseProcess:
    targets = targets_of(model, data)
    return SparseProcess.given(model.function, inducing, data.x, targets.values, targets.variance)


def _prior_and_inducing(model: NetworkMeanModel) -> list[PyTree]:
    spread = model.function.spread
    return [spread.prior, spread.inducing, spread.mean, *fixed_by_prior(model)]
