"""Tractable function-space variational inference (Rudner et al. 2022)."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.divergences import Divergence, regularized_divergence
from gfsvi.inference.elbo import maximize_sampled_elbo
from gfsvi.inference.initialization import posterior_network
from gfsvi.inference.outputs import check_outputs, some_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints, BatchRows, Mixture, UniformBox
from gfsvi.training.history import Fit
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where
from gfsvi.values import Gaussian


class TFSVI(AbstractMethod):
    """A weight prior compared in function space, prior and posterior linearised alike.

    Both are pushed through the same linear map, the Jacobian at the posterior mean: so they
    live on the same functions, and the divergence is at most the KL between the weights.

    Args:
        covariance: The family of Gaussians over the weights.
        points: Where prior and posterior are compared.
        gamma: Added, times the number of points, to both covariances against rounding.
        training: Steps, batches, learning rate.
        num_samples: Functions drawn at a step of training for the likelihood.
        num_outputs: Of several outputs, how many are compared in a step, a random choice that
            stands for all; None for all of them.
        calibration: How held-out rows, where given, set the noise.
        fixed: Picks the parts of the model that stay as they are.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    covariance: AbstractCovariance = Diagonal()
    points: AbstractPoints = Mixture((BatchRows(50), UniformBox(50)))
    gamma: float = eqx.field(static=True, default=1e-8)
    training: Training = eqx.field(static=True, default=Training(num_steps=600, evaluate_every=15))
    num_samples: int = eqx.field(static=True, default=2)
    num_outputs: int | None = eqx.field(static=True, default=None)
    calibration: AbstractCalibration = HeldOut()
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit:
        self.check_prior(model)
        check_outputs(model, data)
        start_key, train_key = jax.random.split(key)
        start = posterior_network(model.function, self.covariance, data, key=start_key)
        return maximize_sampled_elbo(
            self,
            self.divergence(model.function, data),
            start,
            model,
            data,
            num_samples=self.num_samples,
            key=train_key,
            validation=validation,
            remedy=f"gamma is {self.gamma:g}: raise it tenfold, or lower the learning rate.",
        )

    def divergence(self, prior: BayesianNetwork, data: Data) -> "LinearizedKL":
        """How the posterior is held to this prior, for these data."""
        return LinearizedKL(prior, self.points.bind(data.x), self.gamma, self.num_outputs)


class LinearizedKL(eqx.Module):
    """The KL at drawn points between posterior and prior under one linear map."""

    prior: BayesianNetwork
    points: AbstractPoints
    gamma: float = eqx.field(static=True)
    num_outputs: int | None = eqx.field(static=True, default=None)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        x = self.points.draw(batch.x, key=key)
        total = jax.eval_shape(model.function.at, x).mean.shape[0]
        chosen = some_outputs(self.num_outputs, total, key=jax.random.fold_in(key, 1))
        outputs = None if chosen is None else jnp.eye(total)[chosen]
        divergence = linearized_kl(model.function, self.prior, x, gamma=self.gamma, outputs=outputs)
        times = 1.0 if chosen is None else total / len(chosen)
        return times * divergence.value, {"smallest_pivot": divergence.smallest_pivot}


@double
def linearized_kl(
    q: BayesianNetwork,
    p: BayesianNetwork,
    x: Points,
    *,
    gamma: float,
    outputs: Float[Array, "k output"] | None = None,
) -> Divergence:
    """KL at `x` of N(f, J S J^T) and N(f - J (m - m0), J S0 J^T), J at the mean m of q.

    Of the given combinations of outputs, or of each output. J counts as given (Rudner et al. 2022):
    a slope through it would lead to weights at which no function differs from another, where the
    divergence vanishes and nothing is learned.
    """
    around = jax.lax.stop_gradient(q.params)
    linear = dataclasses.replace(q.linearized, params=around)
    pushed = dataclasses.replace(linear, covariance=p.covariance, state=p.state)
    posterior, prior = linear.at(x, outputs=outputs), pushed.at(x, outputs=outputs)
    step = jax.tree.map(jnp.subtract, p.params, q.params)
    x = jnp.asarray(x, jax.tree.leaves(q.params)[0].dtype)
    _, change = jax.jvp(lambda params: q.network.apply(params, x), (around,), (step,))
    change = change if outputs is None else change @ outputs.T.astype(change.dtype)
    mean = posterior.mean + jnp.asarray(change.T, jnp.float64)
    return regularized_divergence(posterior, Gaussian(mean, prior.cov), gamma=gamma)
