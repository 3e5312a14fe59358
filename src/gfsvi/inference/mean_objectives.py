"""Objectives for the mean function: a penalised likelihood.

For the mean, the objective of GFSVI is the likelihood of the data minus the distance to the prior
mean at measurement points. A step costs little more than one of a plain network, so thousands of
steps are affordable instead of hundreds.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.inference.models import LinearizedModel
from gfsvi.inference.sums import total_log_prob
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, solve_lower
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints
from gfsvi.training.steps import Parts
from gfsvi.values import as_gaussian


class MeanObjective(eqx.Module):
    """Log-likelihood at the mean function, minus half its squared distance to the prior.

    The distance is measured by the prior's precision at fixed points. If the batch is all rows and
    these come first among the points, the network is evaluated at them only once.
    """

    points: Points
    prior_mean: Float[Array, "output point"]
    precision: Float[Array, "#output point point"]
    rows_lead: bool = eqx.field(static=True)

    @classmethod
    def of(
        cls, prior: AbstractRandomFunction, points: Points, gamma: float, *, rows_lead: bool
    ) -> "MeanObjective":
        """The objective for a prior at these points, regularised as in the divergence."""
        return cls(points, *_mean_and_precision(prior, points, gamma), rows_lead)

    def __call__(
        self, model: LinearizedModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        points = self.points.astype(batch.x.dtype)
        if self.rows_lead:
            f_points = mean_at(model, points)
            f_rows = f_points[:, : len(batch)]
        else:
            f_rows, f_points = _at_both(model, batch, points)
        distance = f_points - self.prior_mean
        return _penalized(model, batch, scale, f_rows, _half_square(self.precision, distance))


class MovingMeanObjective(eqx.Module):
    """`MeanObjective` at points drawn anew at every step, since few images would be memorised.

    Use few points, because their covariance is factorised at every step.
    """

    prior: AbstractRandomFunction
    points: AbstractPoints
    gamma: float = eqx.field(static=True)

    def __call__(
        self, model: LinearizedModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        points = self.points.draw(batch.x, key=key)
        f_rows, f_points = _at_both(model, batch, points)
        mean, precision = _mean_and_precision(self.prior, points, self.gamma)
        return _penalized(model, batch, scale, f_rows, _half_square(precision, f_points - mean))


def mean_score(model: LinearizedModel, data: Data) -> Float[Array, ""]:
    """Mean log-likelihood of held-out rows at the mean function."""
    return data.mean(model.likelihood.log_prob(data.y, mean_at(model, data.x)))


def mean_at(model: LinearizedModel, x: Points) -> Float[Array, "output point"]:
    """The network at its mean weights."""
    function = model.function
    return function.network.apply(function.params, jnp.asarray(x)).T.astype(jnp.float64)


def _at_both(model: LinearizedModel, batch: Data, points: Points) -> tuple[Array, Array]:
    f = mean_at(model, jnp.concatenate([jnp.asarray(batch.x), points]))
    return f[:, : len(batch)], f[:, len(batch) :]


def _penalized(
    model: LinearizedModel, batch: Data, scale: float, f_rows: Array, penalty: Float[Array, ""]
) -> tuple[Float[Array, ""], Parts]:
    fit = scale * total_log_prob(model.likelihood, batch, f_rows)
    return fit - penalty, {"log_likelihood": fit, "penalty": penalty}


@jit_fast_compile
def _mean_and_precision(
    prior: AbstractRandomFunction, points: Points, gamma: float
) -> tuple[Float[Array, "output point"], Float[Array, "#output point point"]]:
    """The prior's mean, and the inverse of its regularised covariance."""
    values = as_gaussian(prior.at(points))
    added = gamma * len(points)
    factor = cholesky(add_to_diagonal(values.cov, added), added)
    whitener = solve_lower(factor, jnp.broadcast_to(jnp.eye(len(points)), factor.shape))
    return values.mean, jnp.swapaxes(whitener, -1, -2) @ whitener


def _half_square(
    precision: Float[Array, "#output point point"], distance: Float[Array, "output point"]
) -> Float[Array, ""]:
    """Half of d' P d, with its gradient P d from the same product, so that P is read once."""
    at = jax.lax.stop_gradient(distance)
    pulled = (precision @ at[..., None])[..., 0]
    return jnp.sum(distance * pulled) - 0.5 * jnp.sum(at * pulled)
