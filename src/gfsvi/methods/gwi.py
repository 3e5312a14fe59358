"""Gaussian Wasserstein inference: a network as mean, a sparse process as covariance."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, correlation_lengths
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.network_mean_process import NetworkMeanProcess
from gfsvi.functions.sparse_process import SparseProcess
from gfsvi.inference.calibration import AbstractCalibration, HeldOut, fixed_by_prior, with_share
from gfsvi.inference.elbo import Elbo, maximize_elbo
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.initialization import MAX_NOISE_ROWS, MAX_SCALED_FEATURES
from gfsvi.inference.outputs import check_outputs
from gfsvi.inference.wasserstein import squared_wasserstein
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.clustering import cluster_centres
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.training.history import Fit
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training
from gfsvi.training.steps import Where

# Keeps the root of a distance of zero differentiable.
SMALLEST_SQUARE = 1e-10


class GWI(AbstractMethod):
    """Fit a process whose mean is a network, held to its prior by Wasserstein (Wild et al. 2022).

    The kernel stays as given: choose it before, with EmpiricalBayes.

    Args:
        network: Any network; its outputs must match the likelihood.
        num_inducing: Inducing points of the covariance at most.
        num_points: Rows of a batch at which posterior and prior are compared.
        weight: How much the divergence counts for each row of data; 1 is what the authors' code
            does with one batch, 1 / rows their formula.
        squared: Whether the divergence is the squared distance instead of the distance.
        training: Steps, batches, learning rate.
        dtype: Precision of the network; the linear algebra is float64 always.
        fixed: Picks the parts of the model that stay as they are;
            by default the prior, the inducing points and a warp.
        calibration: How held-out rows, where given, set the noise.
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
    dtype: Any = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)
    calibration: AbstractCalibration = HeldOut()

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data, self.network)
        start_key, train_key = jax.random.split(key)
        return maximize_elbo(
            self,
            Elbo(self.divergence(model, data)),
            self.initial(model, data, key=start_key),
            model,
            data,
            key=train_key,
            validation=validation,
            fixed_before=_fixed_before,
            remedy="Standardise the data, or lower the learning rate.",
        )

    @double
    def initial(self, model: Model, data: Data, *, key: PRNGKeyArray) -> Model:
        """A random network around which values scatter as they do in the best sparse process.

        Where noise is learned it begins at what suits this network, which has learned nothing.
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

    def divergence(self, model: Model, data: Data) -> "Wasserstein":
        """How the posterior is held to this model's prior, for these data."""
        size = min(self.num_points, self.training.optimizer.rows_per_step(len(data)))
        return Wasserstein(model.function, self.weight * len(data), size, self.squared)


class Wasserstein(eqx.Module):
    """A multiple of the Wasserstein distance at rows of the batch, drawn anew at every step."""

    prior: GaussianProcess
    weight: float
    num_points: int = eqx.field(static=True)
    squared: bool = eqx.field(static=True)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        x = jax.random.permutation(key, batch.x)[: self.num_points]
        square = jnp.maximum(squared_wasserstein(model.function.at(x), self.prior.at(x)), 0)
        distance = jnp.sqrt(square + SMALLEST_SQUARE)
        return self.weight * (square if self.squared else distance), {"wasserstein": distance}


@jit_fast_compile
def _first_params(
    network: AbstractNetwork, x: Points, dtype: Any, lengths: Array | None, *, key: PRNGKeyArray
) -> Any:
    return network.init(x, key=key, dtype=dtype, lengths=lengths)


@jit_fast_compile
def _best_spread(model: Model, data: Data, inducing: Points) -> SparseProcess:
    targets = targets_of(model, data)
    return SparseProcess.given(model.function, inducing, data.x, targets.values, targets.variance)


def _fixed_before(model: Model) -> list[Any]:
    spread = model.function.spread
    return [spread.prior, spread.inducing, spread.mean, *fixed_by_prior(model)]
