"""Functional variational Bayesian neural networks (Sun et al. 2019)."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.elbo import maximize_sampled_elbo
from gfsvi.inference.initialization import random_start
from gfsvi.inference.outputs import check_outputs
from gfsvi.inference.stein import estimated_score
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.linalg import add_to_diagonal, normal_log_density
from gfsvi.numerics.precision import double
from gfsvi.points import AbstractPoints, BatchRows, Mixture, UniformBox
from gfsvi.training.history import Fit
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where


class FVI(AbstractMethod):
    """A Gaussian-process prior on a sampled network, by the spectral Stein estimator.

    The gradient of the KL between functions is estimated from draws. With k draws at D values
    the estimate of the entropy's gradient shrinks as D grows past k: keep points few.

    Args:
        network: Any network; its outputs must match the likelihood.
        covariance: The family of Gaussians over its weights.
        points: Where prior and posterior are compared: rows of the batch and random points.
        noise: Standard deviation of the noise added to functions, which makes the KL finite.
        weight: Factor of the KL beside rows of the data for each row of the batch.
        training: Steps, batches, learning rate.
        num_samples: Functions drawn at a step of training for the divergence.
        num_likelihood_samples: Functions drawn at a step for the likelihood.
        dtype: Precision of the network.
        calibration: How held-out rows, where given, set the noise.
        fixed: Picks the parts of the model that stay as they are.
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
    dtype: Any = eqx.field(static=True, default=jnp.float32)
    calibration: AbstractCalibration = HeldOut()
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data, self.network)
        start_key, train_key = jax.random.split(key)
        start = random_start(
            BayesianNetwork,
            self.network,
            self.covariance,
            jnp.asarray(data.x),
            self.dtype,
            key=start_key,
        )
        return maximize_sampled_elbo(
            self,
            self.divergence(model.function, data),
            start,
            model,
            data,
            num_samples=self.num_likelihood_samples,
            key=train_key,
            validation=validation,
            remedy="Raise the noise added to functions, or lower the learning rate.",
        )

    def divergence(self, prior: AbstractRandomFunction, data: Data) -> "SteinKL":
        """How the posterior is held to this prior, for these data."""
        points = self.points.bind(data.x)
        return SteinKL(prior, points, self.noise, self.weight, self.num_samples)


class SteinKL(eqx.Module):
    """A surrogate at drawn points that has the gradient of the KL, not its value."""

    prior: AbstractRandomFunction
    points: AbstractPoints
    noise: float = eqx.field(static=True)
    weight: float = eqx.field(static=True)
    num_samples: int = eqx.field(static=True)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
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
    """-mean_j score(g_j) . g_j, the score held fixed; outputs are estimated on their own."""
    per_output = jnp.swapaxes(draws, 0, 1)
    scores = jax.lax.stop_gradient(jax.lax.map(estimated_score, per_output))
    return -jnp.sum(scores * per_output) / len(draws)
