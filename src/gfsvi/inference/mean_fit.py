"""The mean of a linearised network, fitted alone before its covariance.

For the mean the objective of GFSVI is a penalised likelihood: that of the data, and the distance
to the prior mean at measurement points. A step costs little more than one of a plain network, so
thousands are cheap, where the full objective takes hundreds.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.model import Model
from gfsvi.numerics.compilation import compiled_once
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, solve_lower
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints
from gfsvi.training.loop import compile_ahead, maximize
from gfsvi.training.settings import Training
from gfsvi.training.steps import Objective


def fit_mean(
    model: Model,
    objective: Objective,
    data: Data,
    training: Training,
    *,
    key: PRNGKeyArray,
    validation: Data | None = None,
) -> Model:
    """Move the mean weights to where data and prior together want the mean function."""
    options = _options(key, validation)
    return maximize(objective, model, data, training, **options)[0]


def compile_mean_fit(
    model: Model,
    objective: Objective,
    data: Data,
    training: Training,
    *,
    key: PRNGKeyArray,
    validation: Data | None = None,
) -> None:
    """Compile what `fit_mean` runs for such arguments, whose arrays may be shapes."""
    options = _options(key, validation)
    compile_ahead(objective, model, data, training, **options)


def _options(key: PRNGKeyArray, validation: Data | None) -> dict[str, Any]:
    return {"key": key, "fixed": _all_but_the_mean, "validation": validation, "score": _score}


class MeanObjective(eqx.Module):
    """Log-likelihood at the mean function, less half its squared distance to the prior.

    The distance is measured by the prior's precision at points that stay where they are. Where
    the batch is all rows, and these come first among the points, the network is evaluated there
    once for both.
    """

    points: Points
    prior_mean: Float[Array, "output point"]
    precision: Float[Array, "#output point point"]
    rows_lead: bool = eqx.field(static=True)

    @classmethod
    def of(
        cls, prior: AbstractRandomFunction, points: Points, gamma: float, *, rows_lead: bool
    ) -> "MeanObjective":
        """For the prior at these points, regularised as in the divergence."""
        return cls(points, *_mean_and_precision(prior, points, gamma), rows_lead)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        points, num_rows = self.points.astype(batch.x.dtype), len(batch)
        if self.rows_lead:
            f_points = _mean_at(model, points)
            f_rows = f_points[:, :num_rows]
        else:
            f = _mean_at(model, jnp.concatenate([jnp.asarray(batch.x), points]))
            f_rows, f_points = f[:, :num_rows], f[:, num_rows:]
        fit = scale * jnp.sum(model.likelihood.log_prob(batch.y, f_rows))
        penalty = _half_square(self.precision, f_points - self.prior_mean)
        return fit - penalty, {"log_likelihood": fit, "penalty": penalty}


class MovingMeanObjective(eqx.Module):
    """The same at points that are drawn anew at every step: a few images would be learned by heart.

    Few points, because their covariance is factorised every time.
    """

    prior: AbstractRandomFunction
    points: AbstractPoints
    gamma: float = eqx.field(static=True)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        points = self.points.draw(batch.x, key=key)
        f = _mean_at(model, jnp.concatenate([jnp.asarray(batch.x), points]))
        f_rows, f_points = f[:, : len(batch)], f[:, len(batch) :]
        fit = scale * jnp.sum(model.likelihood.log_prob(batch.y, f_rows))
        mean, precision = _mean_and_precision(self.prior, points, self.gamma)
        penalty = _half_square(precision, f_points - mean)
        return fit - penalty, {"log_likelihood": fit, "penalty": penalty}


@compiled_once
def _mean_and_precision(
    prior: AbstractRandomFunction, points: Points, gamma: float
) -> tuple[Float[Array, "output point"], Float[Array, "#output point point"]]:
    """The prior's mean, and the inverse of its regularised covariance."""
    values = prior.at(points)
    added = gamma * len(points)
    factor = cholesky(add_to_diagonal(values.cov, added), added)
    whitener = solve_lower(factor, jnp.broadcast_to(jnp.eye(len(points)), factor.shape))
    return values.mean, jnp.swapaxes(whitener, -1, -2) @ whitener


def _half_square(
    precision: Float[Array, "#output point point"], distance: Float[Array, "output point"]
) -> Float[Array, ""]:
    """Half of d' P d, whose gradient P d is at hand once the value is: P is read once."""
    at = jax.lax.stop_gradient(distance)
    pulled = (precision @ at[..., None])[..., 0]
    return jnp.sum(distance * pulled) - 0.5 * jnp.sum(at * pulled)


def _all_but_the_mean(model: Model) -> Any:
    return model.function.state, model.likelihood


def _score(model: Model, data: Data) -> Float[Array, ""]:
    return jnp.mean(model.likelihood.log_prob(data.y, _mean_at(model, data.x)))


def _mean_at(model: Model, x: Points) -> Float[Array, "output point"]:
    function = model.function
    return function.network.apply(function.params, jnp.asarray(x)).T.astype(jnp.float64)
