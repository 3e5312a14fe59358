"""Networks at the most probable weights, one or several, each from its own start."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractIndependent
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.ensemble import Ensemble
from gfsvi.inference.calibration import fixed_by_prior, with_share
from gfsvi.inference.elbo import validation_score
from gfsvi.inference.models import BNNModel, EnsembleModel
from gfsvi.inference.sums import total_log_prob
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.jacobian import as_matrix, total
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.types import Points
from gfsvi.training.history import Fit
from gfsvi.training.loop import maximize
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts

MIN_ROWS_TO_SPLIT = 20


class WeightPrior(eqx.Module):
    """Independent normal weights: their mean, and standard deviations leaf by leaf."""

    mean: Params
    stds: tuple[Float[Array, "row column"], ...]

    @classmethod
    def of(cls, function: BayesianNetwork) -> "WeightPrior":
        """The weights of a Bayesian network; raise if they are not independent."""
        if not isinstance(function.covariance, AbstractIndependent):
            raise TypeError(
                "a point estimate expects a prior with independent weights (Isotropic or "
                f"Diagonal); got {type(function.covariance).__name__}. "
                "Build it by BayesianNetwork.prior(network, x)."
            )
        stds = function.covariance.stds(function.state, function.params)
        return cls(function.params, tuple(jnp.asarray(std, jnp.float64) for std in stds))

    def scaled(self, scales: tuple[Float[Array, ""], ...]) -> "WeightPrior":
        """The prior with its standard deviations multiplied by one factor per leaf."""
        pairs = zip(self.stds, scales, strict=True)
        return WeightPrior(self.mean, tuple(scale * std for std, scale in pairs))

    def distances(self, params: Params) -> tuple[Float[Array, ""], ...]:
        """The squared distance from the mean, in standard deviations, leaf by leaf."""
        leaves = zip(jax.tree.leaves(params), jax.tree.leaves(self.mean), self.stds, strict=True)
        return tuple(jnp.sum(((as_matrix(w) - as_matrix(m)) / std) ** 2) for w, m, std in leaves)


class LogPosterior(eqx.Module):
    """log p(y | w) + log p(w) up to a constant, summed over the members of an ensemble."""

    prior: WeightPrior

    def __call__(
        self, model: EnsembleModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        draws = model.function.at(batch.x).draws
        log_prob = jax.vmap(lambda f: total_log_prob(model.likelihood, batch, f))(draws)
        fit = scale * jnp.sum(log_prob)
        distances = jax.vmap(self.prior.distances)(model.function.params)
        penalty = total(jnp.sum(distance) for distance in distances) / 2
        return fit - penalty, {"log_likelihood": fit, "penalty": penalty}


@jit_fast_compile
def random_members(
    network: AbstractNetwork, like: Params, x: Points, num_members: int, *, key: PRNGKeyArray
) -> Ensemble:
    """Networks with random weights, in the precision of `like`."""
    dtype = jax.tree.leaves(like)[0].dtype
    keys = jax.random.split(key, num_members)
    members = [network.init(x, key=k, dtype=dtype) for k in keys]
    return Ensemble(network, jax.tree.map(lambda *leaves: jnp.stack(leaves), *members))


def most_probable(
    model: BNNModel,
    data: Data,
    training: Training,
    *,
    num_members: int,
    key: PRNGKeyArray,
    validation: Data | None = None,
) -> Fit[EnsembleModel]:
    """Train members under the prior of `model`; held-out rows decide when to stop and the noise.

    On its own training rows a network that fits them all would have no noise. Without validation
    rows a tenth of the data is held out; with very few rows none, and the noise is kept.
    """
    start_key, split_key, train_key = jax.random.split(key, 3)
    if validation is None and len(data) >= MIN_ROWS_TO_SPLIT:
        data, validation = data.split(0.1, key=split_key)
    prior = WeightPrior.of(model.function)
    x = jnp.asarray(data.x)
    start = random_members(
        model.function.network, model.function.params, x, num_members, key=start_key
    )
    posterior, history = maximize(
        LogPosterior(prior),
        Model(start, model.likelihood),
        data,
        training,
        key=train_key,
        fixed=likelihood_of if validation is None else fixed_by_prior,
        validation=validation,
        score=validation_score,
    )
    if validation is not None:
        posterior = with_share(posterior, validation, 1.0, key=train_key)
    return Fit(posterior, history)


def likelihood_of(model: EnsembleModel) -> AbstractLikelihood:
    """The part that stays fixed while only the weights are trained."""
    return model.likelihood
