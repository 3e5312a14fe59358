"""The mean of a linearised network, fitted alone before its covariance.

For the mean the objective of GFSVI is a penalised likelihood: that of the data, and the whitened
distance to the prior mean at measurement points that stay where they are. A step costs little
more than one of a plain network, so thousands are cheap, where the full objective takes hundreds.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.compilation import compiled_once
from gfsvi.data import Data
from gfsvi.function import AbstractRandomFunction, Points
from gfsvi.linalg import add_to_diagonal, cholesky, solve_lower
from gfsvi.model import Model
from gfsvi.training import Training, maximize


def fit_mean(
    model: Model,
    prior: AbstractRandomFunction,
    data: Data,
    points: Points,
    training: Training,
    *,
    gamma: float,
    key: PRNGKeyArray,
    validation: Data | None = None,
) -> Model:
    """Move the mean weights to where data and prior together want the mean function."""
    fitted, _ = maximize(
        MeanObjective.of(prior, points, gamma),
        model,
        data,
        training,
        key=key,
        fixed=_all_but_the_mean,
        validation=validation,
        score=_score,
    )
    return fitted


class MeanObjective(eqx.Module):
    """Log-likelihood at the mean function, less half its squared whitened distance to the prior."""

    points: Points
    prior_mean: Float[Array, "output point"]
    whitener: Float[Array, "#output point point"]

    @classmethod
    def of(cls, prior: AbstractRandomFunction, points: Points, gamma: float) -> "MeanObjective":
        """For the prior at these points, regularised as in the divergence."""
        return cls(points, *_whitened(prior, points, gamma))

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        x = jnp.concatenate([jnp.asarray(batch.x), self.points.astype(batch.x.dtype)])
        f = _mean_at(model, x)
        fit = scale * jnp.sum(model.likelihood.log_prob(batch.y, f[:, : len(batch)]))
        distance = (f[:, len(batch) :] - self.prior_mean)[..., None]
        penalty = 0.5 * jnp.sum(jnp.square(self.whitener @ distance))
        return fit - penalty, {"log_likelihood": fit, "penalty": penalty}


@compiled_once
def _whitened(
    prior: AbstractRandomFunction, points: Points, gamma: float
) -> tuple[Float[Array, "output point"], Float[Array, "#output point point"]]:
    """The prior's mean, and the inverse of the factor of its regularised covariance."""
    values = prior.at(points)
    added = gamma * len(points)
    factor = cholesky(add_to_diagonal(values.cov, added), added)
    identity = jnp.broadcast_to(jnp.eye(len(points)), factor.shape)
    return values.mean, solve_lower(factor, identity)


def _all_but_the_mean(model: Model) -> Any:
    return model.function.state, model.likelihood


def _score(model: Model, data: Data) -> Float[Array, ""]:
    return jnp.mean(model.likelihood.log_prob(data.y, _mean_at(model, data.x)))


def _mean_at(model: Model, x: Points) -> Float[Array, "output point"]:
    function = model.function
    return function.network.apply(function.params, jnp.asarray(x)).T.astype(jnp.float64)
