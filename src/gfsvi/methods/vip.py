"""Variational implicit processes (Ma, Li and Hernandez-Lobato 2019)."""

import dataclasses
from typing import ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractIndependent
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.feature_function import FeatureFunction
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.elbo import Elbo, Plan
from gfsvi.inference.models import BNNModel, K
from gfsvi.likelihoods.expectations import marginal_draws
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.variational import AbstractVariational
from gfsvi.model import Model
from gfsvi.networks.jacobian import as_matrix
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, inverse_from_cholesky
from gfsvi.training.settings import Training
from gfsvi.training.steps import Objective, Parts, Where

FeatureModel: TypeAlias = Model[FeatureFunction, K]


class VIP(AbstractVariational[BayesianNetwork]):
    """Bayesian linear regression whose features are functions drawn from a network.

    The network's weight distribution is learned together with the regression.

    Args:
        num_features: Number of functions to draw.
        alpha: 0 for the evidence lower bound, up to 1 for the energies of the original paper.
        exact: Whether to end with the exact posterior of the regression (normal likelihood).
        training: Steps, batches and learning rate.
        calibration: How held-out rows, if given, set the noise.
        fixed: Picks the parts of the model that stay fixed.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    num_features: int = eqx.field(static=True, default=20)
    alpha: float = eqx.field(static=True, default=0.0)
    exact: bool = eqx.field(static=True, default=False)
    training: Training = eqx.field(static=True, default=Training(num_steps=1000))
    calibration: AbstractCalibration = HeldOut()
    fixed: Where | None = eqx.field(static=True, default=None)

    def plan(self, model: BNNModel, data: Data, *, key: PRNGKeyArray) -> Plan:
        self.check(model, data)
        start = Model(self._start(model.function, data, key), model.likelihood)
        if self.exact:
            return Plan(start, self._objective(), finish=with_exact_coefficients)
        return Plan(start, self._objective())

    def _objective(self) -> Objective:
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"VIP expects alpha between 0 and 1; got {self.alpha}.")
        return Elbo(CoefficientKL()) if self.alpha == 0 else AlphaEnergy(self.alpha)

    def _start(self, prior: BayesianNetwork, data: Data, key: PRNGKeyArray) -> FeatureFunction:
        """Functions of about unit size: weights scaled by the square root of a layer's inputs."""
        if not isinstance(prior.covariance, AbstractIndependent):
            raise TypeError(
                "VIP expects a prior over independent weights; got "
                f"{type(prior.covariance).__name__}. Use BayesianNetwork.prior(network, x)."
            )
        stds = prior.covariance.stds(prior.state, prior.params)
        state = tuple(jnp.log(_scaled_by_inputs(std)) for std in stds)
        source = BayesianNetwork(
            prior.network, Diagonal(), prior.params, state, num_samples=self.num_features
        )
        shape = jax.eval_shape(lambda: prior.network.apply(prior.params, jnp.asarray(data.x[:1])))
        num_outputs = shape.shape[-1]
        zeros = jnp.zeros((num_outputs, self.num_features), jnp.float64)
        return FeatureFunction(source, key, zeros, jnp.zeros((*zeros.shape, self.num_features)))


class CoefficientKL(eqx.Module):
    """The KL between the coefficients and N(0, I)."""

    def __call__(
        self, model: FeatureModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        return coefficient_kl(model.function), {}


class AlphaEnergy(eqx.Module):
    """(1 / alpha) log E[p(y | f)^alpha], summed over rows, minus the KL of the coefficients."""

    alpha: float = eqx.field(static=True)

    def __call__(
        self, model: FeatureModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        values = model.function.marginals(batch.x)
        draws = marginal_draws(values, 64, key=key)
        powers = jax.vmap(lambda f: self.alpha * model.likelihood.log_prob(batch.y, f))(draws)
        energy = jax.nn.logsumexp(powers, axis=0) - jnp.log(len(draws))
        total = scale * batch.total(energy) / self.alpha
        divergence = coefficient_kl(model.function)
        return total - divergence, {"energy": total, "divergence": divergence}


def coefficient_kl(function: FeatureFunction) -> Float[Array, ""]:
    """KL(N(coefficients, L L^T) || N(0, I)), summed over outputs."""
    lower = function.lower
    log_pivots = jnp.log(jnp.diagonal(lower, axis1=1, axis2=2))
    squares = jnp.sum(lower**2) + jnp.sum(jnp.asarray(function.coefficients) ** 2)
    return 0.5 * (squares - function.coefficients.size) - jnp.sum(log_pivots)


def with_exact_coefficients(model: FeatureModel, data: Data) -> FeatureModel:
    """The closed-form posterior of the coefficients, given the learned features and noise."""
    if not isinstance(model.likelihood, Normal):
        raise TypeError(
            "exact coefficients need Normal as likelihood, which keeps them Gaussian; got "
            f"{type(model.likelihood).__name__}. Leave exact=False."
        )
    mean, features = model.function.features(data.x)
    targets = model.likelihood.gaussian_targets(data.y).weighted(data.weights)
    weighted = features / targets.variance[:, None, :]
    precision = weighted @ jnp.swapaxes(features, 1, 2)
    covariance = inverse_from_cholesky(cholesky(add_to_diagonal(precision, 1.0)))
    coefficients = jnp.einsum("ofg,ogp,op->of", covariance, weighted, targets.values - mean)
    lower = cholesky(covariance)
    pivots = jnp.diagonal(lower, axis1=1, axis2=2)
    raw = jnp.tril(lower, -1) + jnp.log(pivots)[..., None] * jnp.eye(lower.shape[-1])
    function = dataclasses.replace(model.function, coefficients=coefficients, factor=raw)
    return Model(function, model.likelihood)


def _scaled_by_inputs(std: Float[Array, "row column"]) -> Float[Array, "row column"]:
    inputs = max(as_matrix(std).shape[0] - 1, 1)
    # The last row is the bias, which has a single input.
    return (std / inputs**0.5).at[-1].set(std[-1])
