"""Functional variational Bayesian neural networks (Sun et al. 2019)."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.elbo import Plan, sampled_plan
from gfsvi.inference.initialization import random_start
from gfsvi.inference.models import BNNModel, GPModel
from gfsvi.inference.stein import estimated_score
from gfsvi.methods.variational import AbstractVariational
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.linalg import add_to_diagonal, normal_log_density
from gfsvi.points import AbstractPoints, BatchRows, Mixture, UniformBox
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where


class FVI(AbstractVariational[GaussianProcess]):
    """A Gaussian-process prior on a sampled network, by the spectral Stein estimator.

    The gradient of the KL between functions is estimated from draws. With k draws at D values the
    estimate of the entropy's gradient shrinks once D exceeds k, so use few measurement points.

    Args:
        network: Any network; its outputs must match the likelihood.
        covariance: The family of Gaussians over its weights.
        points: Measurement points: rows of the batch and random points.
        noise: Standard deviation of the noise added to functions, which makes the KL finite.
        weight: Factor on the KL, in addition to the number of rows of data per row of the batch.
        training: Steps, batches and learning rate.
        num_samples: Functions drawn per training step for the divergence.
        num_likelihood_samples: Functions drawn per training step for the likelihood.
        dtype: Precision of the network.
        calibration: How held-out rows, if given, set the noise.
        fixed: Picks the parts of the model that stay fixed.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    network: AbstractNetwork = MLP()
    covariance: AbstractCovariance = Diagonal()
    points: AbstractPoints = Mixture((BatchRows(50), UniformBox(10)))
    noise: float = eqx.field(static=True, default=0.01)
    weight: float = eqx.field(static=True, default=1.0)
    training: Training = eqx.field(static=True, default=Training(num_steps=600, evaluate_every=15))
    num_samples: int = eqx.field(static=True, default=64)
    num_likelihood_samples: int = eqx.field(static=True, default=4)
    dtype: DTypeLike = eqx.field(static=True, default=jnp.float32)
    calibration: AbstractCalibration = HeldOut()
    fixed: Where | None = eqx.field(static=True, default=None)

    def plan(self, model: GPModel, data: Data, *, key: PRNGKeyArray) -> Plan:
        self.check(model, data, self.network)
        x = jnp.asarray(data.x)
        start = random_start(BayesianNetwork, self.network, self.covariance, x, self.dtype, key=key)
        return sampled_plan(
            start,
            model.likelihood,
            self.divergence(model.function, data),
            num_samples=self.num_likelihood_samples,
            remedy="Raise the noise added to functions, or lower the learning rate.",
        )

    def divergence(self, prior: GaussianProcess, data: Data) -> "SteinKL":
        """The divergence from this prior, with measurement points bound to these data."""
        points = self.points.bind(data.x)
        return SteinKL(prior, points, self.noise, self.weight, self.num_samples)


class SteinKL(eqx.Module):
    """A surrogate at random measurement points with the gradient of the KL, but not its value."""

    prior: GaussianProcess
    points: AbstractPoints
    noise: float = eqx.field(static=True)
    weight: float = eqx.field(static=True)
    num_samples: int = eqx.field(static=True)

    def __call__(
        self, model: BNNModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        points_key, draw_key, noise_key = jax.random.split(key, 3)
        x = self.points.draw(batch.x, key=points_key)
        function = dataclasses.replace(model.function, num_samples=self.num_samples)
        draws = jnp.asarray(function.at(x, key=draw_key).draws, jnp.float64)
        draws = draws + self.noise * jax.random.normal(noise_key, draws.shape)
        value = self._cross_entropy(draws, x) - _entropy_surrogate(draws)
        return self.weight * scale * value, {}

    def _cross_entropy(self, draws: Array, x: Array) -> Float[Array, ""]:
        """-mean_j log p(g_j), exact under a Gaussian process."""
        prior = self.prior.at(x)
        residual = jnp.reshape(draws - prior.mean, (-1, draws.shape[-1]))
        cov = add_to_diagonal(prior.cov, self.noise**2)
        return -normal_log_density(residual, cov) / len(draws)


def _entropy_surrogate(draws: Float[Array, "sample output point"]) -> Float[Array, ""]:
    """-mean_j score(g_j) . g_j with the score held constant, estimated separately per output."""
    per_output = jnp.swapaxes(draws, 0, 1)
    scores = jax.lax.stop_gradient(jax.lax.map(estimated_score, per_output))
    return -jnp.sum(scores * per_output) / len(draws)
