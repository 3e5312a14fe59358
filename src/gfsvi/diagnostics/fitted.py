"""What every check looks at: a fit, and a few values of its functions that are computed once."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.likelihoods.base import AbstractLikelihood, AbstractRealLikelihood
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model
from gfsvi.numerics.compilation import compiled_once
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints
from gfsvi.training.history import History

# Matrices of this size are decomposed in hundredths of a second and show a spectrum well.
MAX_POINTS = 200
MAX_ROWS = 200
# What the measurement points see is asked of all of them, up to a Gram of 8 MB.
MAX_MEASURED = 1000


class Run(NamedTuple):
    """A fit as it came out of training."""

    prior: Model
    posterior: Model
    data: Data
    method: AbstractMethod
    history: History
    before: Model | None
    feature_names: tuple[str, ...]


class Observations(NamedTuple):
    """Observed numbers at some rows, the fitted mean and noise there; all (response, row)."""

    y: np.ndarray
    mean: np.ndarray
    noise_variance: np.ndarray


class Tangents(NamedTuple):
    """What a network can do near its weights, against the prior, all at the same points.

    `before` and `after` training: the covariance of its values, all weights free to move alike.
    """

    prior: np.ndarray
    before: np.ndarray | None
    after: np.ndarray


@dataclasses.dataclass(frozen=True)
class Fitted:
    """A fit and the values of its functions that checks share.

    Args:
        run: The fit.
        num_points: How many measurement points a step of training compares at, if at any.
        prior_cov: The first output's prior covariance, at measurement points and then at rows;
            empty for a prior that has none.
        rows: Row numbers of the rows among these.
        tangents: The network against the prior at measurement points, if there are any.
        observations: None where observations are labels or counts.
    """

    run: Run
    num_points: int
    prior_cov: np.ndarray
    rows: np.ndarray
    tangents: Tangents | None
    observations: Observations | None

    @property
    def num_measured(self) -> int:
        """How many of the points of `prior_cov` are measurement points."""
        return len(self.prior_cov) - len(self.rows)

    @property
    def prior_cov_measured(self) -> np.ndarray:
        """The prior's covariance at the measurement points."""
        return self.prior_cov[: self.num_measured, : self.num_measured]

    @property
    def added(self) -> float:
        """What regularisation adds to every variance: gamma times the number of points."""
        return getattr(self.run.method, "gamma", 0.0) * self.num_points


def look_at(run: Run, *, key: PRNGKeyArray) -> Fitted:
    """Evaluate both functions where the checks want to know them."""
    points_key, order_key = jax.random.split(key)
    random = np.random.default_rng(int(jax.random.bits(order_key)))
    num_points, measured = _measurement_points(run, random, points_key)
    rows = random.permutation(len(run.data))[:MAX_ROWS]
    x_rows = np.asarray(run.data.x[rows], np.float64)
    prior_cov = np.zeros((0, 0))
    if not isinstance(run.prior.function, BayesianNetwork):
        x = x_rows if measured is None else np.concatenate([measured, x_rows])
        prior_cov = np.asarray(_prior_cov(run.prior.function, x))
    tangents = None if measured is None else _tangents(run, measured, prior_cov)
    observations = _observations(run, rows, x_rows)
    return Fitted(run, num_points, prior_cov, rows, tangents, observations)


def _measurement_points(
    run: Run, random: np.random.Generator, key: PRNGKeyArray
) -> tuple[int, np.ndarray | None]:
    """How many points a step compares at, and some of them; none for most methods."""
    if not isinstance(run.method, GFSVI):
        return 0, None
    points = run.method.divergence(run.prior.function, run.data).points
    # At random, as in training: the rows of a table are often sorted.
    batch = run.data.x[random.permutation(len(run.data))[: run.method.training.optimizer.rows_per_step(len(run.data))]]
    measured = np.asarray(_draw(points, jnp.asarray(batch), key), np.float64)
    return points.num_points, measured[random.permutation(len(measured))[:MAX_MEASURED]]


def _tangents(run: Run, measured: np.ndarray, prior_cov: np.ndarray) -> Tangents:
    count = min(MAX_POINTS, len(measured))
    functions = [None if run.before is None else run.before.function, run.posterior.function]
    at_points = [None if f is None else _tangent(f, measured[:count]) for f in functions]
    return Tangents(prior_cov[:count, :count], *at_points)


@compiled_once
def _draw(points: AbstractPoints, batch: Points, key: PRNGKeyArray) -> Points:
    return points.draw(batch, key=key)


@compiled_once
def _prior_cov(prior: AbstractRandomFunction, x: Points) -> Array:
    return prior.at(x).cov[0]


def _tangent(function: LinearizedNetwork, x: np.ndarray) -> np.ndarray:
    # A family starts from all weights alike, those that it holds fixed left out.
    state = function.covariance.init(function.params, key=jax.random.key(0))
    return np.asarray(_network_cov(dataclasses.replace(function, state=state), x))


@compiled_once
def _network_cov(function: LinearizedNetwork, x: Points) -> Array:
    return function.at(x).cov[0]


def _observations(run: Run, rows: np.ndarray, x: np.ndarray) -> Observations | None:
    function, likelihood = run.posterior.function, run.posterior.likelihood
    if not isinstance(likelihood, Normal | AbstractRealLikelihood):
        return None
    if getattr(likelihood, "discrete", False):
        return None
    mean, variance = _moments(likelihood, _mean(function, x))
    y = np.asarray(run.data.y, np.float64)[rows]
    return Observations(y[None] if y.ndim == 1 else y.T, np.asarray(mean), np.asarray(variance))


@compiled_once
def _mean(function: AbstractRandomFunction, x: Points) -> Array:
    if isinstance(function, LinearizedNetwork):  # whose variances would take longer
        return function.network.apply(function.params, x).T
    return function.marginals(x).mean


def _moments(likelihood: AbstractLikelihood, f: Array) -> tuple[Array, Array]:
    """Mean and variance of an observation where the function is its own mean."""
    if isinstance(likelihood, AbstractRealLikelihood):
        return likelihood.moments(f)
    variance = jnp.reshape(jnp.asarray(likelihood.noise), (-1, 1)) ** 2
    return f, jnp.broadcast_to(variance, f.shape)
