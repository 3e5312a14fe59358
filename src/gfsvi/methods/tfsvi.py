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
from gfsvi.inference.elbo import Plan, sampled_plan
from gfsvi.inference.initialization import posterior_network
from gfsvi.inference.models import BNNModel
from gfsvi.inference.outputs import some_outputs
from gfsvi.methods.variational import AbstractVariational
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints, BatchRows, Mixture, UniformBox
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where
from gfsvi.values import Gaussian


class TFSVI(AbstractVariational[BayesianNetwork]):
    """Variational inference with a prior over weights, regularised in function space.

    Both are pushed through the same linear map, the Jacobian at the posterior mean, so that they
    describe the same functions and the divergence is at most the KL between the weights.

    Args:
        covariance: The family of Gaussians over the weights.
        points: Measurement points, where prior and posterior are compared.
        gamma: Times the number of points, added to both covariances for numerical stability.
        training: Steps, batches and learning rate.
        num_samples: Functions drawn per training step for the likelihood.
        num_outputs: Number of outputs, chosen at random, to compare per step; None for all.
        calibration: How held-out rows, if given, set the noise.
        fixed: Picks the parts of the model that stay fixed.
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

    def plan(self, model: BNNModel, data: Data, *, key: PRNGKeyArray) -> Plan:
        self.check(model, data)
        return sampled_plan(
            posterior_network(model.function, self.covariance, data, key=key),
            model.likelihood,
            self.divergence(model.function, data),
            num_samples=self.num_samples,
            remedy=f"gamma is {self.gamma:g}: raise it tenfold, or lower the learning rate.",
        )

    def divergence(self, prior: BayesianNetwork, data: Data) -> "LinearizedKL":
        """The divergence from this prior, with measurement points bound to these data."""
        return LinearizedKL(prior, self.points.bind(data.x), self.gamma, self.num_outputs)


class LinearizedKL(eqx.Module):
    """The KL between posterior and prior under one linear map, at random measurement points."""

    prior: BayesianNetwork
    points: AbstractPoints
    gamma: float = eqx.field(static=True)
    num_outputs: int | None = eqx.field(static=True, default=None)

    def __call__(
        self, model: BNNModel, batch: Data, scale: float, *, key: PRNGKeyArray
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

    For the given combinations of outputs, or for each output. J is held constant (Rudner et al.
    2022): a gradient through it would lead to weights at which all functions agree, where the
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
