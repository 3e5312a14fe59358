"""What every check looks at: a fit, and values of its functions that are computed once."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.likelihoods.base import AbstractLikelihood, AbstractNoisyLikelihood, FunctionValues
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.randomness import generator
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints
from gfsvi.predictives.base import Responses, library_layout
from gfsvi.training.history import History
from gfsvi.values import as_gaussian

# Matrices of this size are decomposed in hundredths of a second and show the spectrum well.
MAX_POINTS = 200
MAX_ROWS = 200
# Up to this many measurement points, a Gram matrix of 8 MB, all are examined.
MAX_MEASURED = 1000

Square = Float[np.ndarray, "point point"]
AtRows = Float[np.ndarray, "response row"]


class FitRun(NamedTuple):
    """A fit as it came out of training."""

    prior: Model
    posterior: Model
    data: Data
    method: AbstractMethod
    history: History
    feature_names: tuple[str, ...]


class Comparison(NamedTuple):
    """How a function-space method compares the posterior with the prior in each step.

    `x` holds some of its measurement points, `network_eps` the precision of the network,
    `smallest_pivot` that of the regularised prior at the points if the posterior was computed.
    """

    num_points: int
    gamma: float
    network_eps: float
    x: Float[np.ndarray, "point *feature"]
    smallest_pivot: float = np.inf

    @property
    def added(self) -> float:
        """What regularisation adds to every variance: gamma times the number of points."""
        return self.gamma * self.num_points


class Tangents(NamedTuple):
    """Covariances at the same points: the prior's, and the network's with all weights alike."""

    prior: Square
    network: Square


class Observations(NamedTuple):
    """Observed numbers at some rows, and the fit there.

    `y`, `mean` and `noise_variance` are on the scale of the observations, `targets` are the
    observations on the function's scale.
    """

    y: AtRows
    mean: AtRows
    noise_variance: AtRows
    targets: AtRows


@dataclasses.dataclass(frozen=True)
class Examined:
    """A fit, and the values of its functions that checks share.

    Args:
        run: The fit.
        comparison: How training compared at measurement points; None for methods without any.
        prior_cov: The first output's prior covariance, at measurement points and then at rows;
            empty for a prior without one.
        rows: Row numbers of the rows among these.
        tangents: The network against the prior at measurement points, if there are any.
        observations: None for labels and counts.
    """

    run: FitRun
    comparison: Comparison | None
    prior_cov: Square
    rows: Int[np.ndarray, " row"]
    tangents: Tangents | None
    observations: Observations | None

    @property
    def is_computed(self) -> bool:
        """Whether the posterior is in closed form, with its noise set by leaving rows out."""
        return isinstance(self.run.posterior.function, ConjugateNetwork)

    @property
    def num_measured(self) -> int:
        """How many of the points of `prior_cov` are measurement points."""
        return len(self.prior_cov) - len(self.rows)

    @property
    def prior_cov_measured(self) -> Square:
        """The prior's covariance at the measurement points."""
        return self.prior_cov[: self.num_measured, : self.num_measured]


def examine(run: FitRun, *, key: PRNGKeyArray) -> Examined:
    """Evaluate prior and posterior where the checks need them."""
    random = generator(key)
    comparison = _comparison(run, random, key)
    rows = random.permutation(len(run.data))[:MAX_ROWS]
    x_rows = np.asarray(run.data.x[rows], np.float64)
    prior_cov = np.zeros((0, 0))
    if not isinstance(run.prior.function, BayesianNetwork):
        x = x_rows if comparison is None else np.concatenate([comparison.x, x_rows])
        prior_cov = _prior_cov(run.prior.function, x)
    tangents = None if comparison is None else _tangents(run, comparison.x, prior_cov)
    return Examined(run, comparison, prior_cov, rows, tangents, _observations(run, rows, x_rows))


def _comparison(run: FitRun, random: np.random.Generator, key: PRNGKeyArray) -> Comparison | None:
    method, num_rows = run.method, len(run.data)
    if not isinstance(method, GFSVI):
        return None
    function = run.posterior.function
    if isinstance(function, ConjugateNetwork):
        return _of_computed(function, method.gamma, random)
    eps = float(np.finfo(np.dtype(method.dtype)).eps)
    points = method.divergence(run.prior.function, run.data).points
    # At random, as in training: the rows of a table are often sorted.
    batch = random.permutation(num_rows)[: method.training.optimizer.rows_per_step(num_rows)]
    x = np.asarray(_draw(points, jnp.asarray(run.data.x[batch]), key), np.float64)
    some = random.permutation(len(x))[:MAX_MEASURED]
    return Comparison(points.num_points, method.gamma, eps, x[some])


def _of_computed(
    function: ConjugateNetwork, gamma: float, random: np.random.Generator
) -> Comparison:
    """The comparison of a posterior in closed form, whose derivatives are in double precision."""
    x, eps = np.asarray(function.points), float(np.finfo(np.float64).eps)
    some = random.permutation(len(x))[:MAX_MEASURED]
    # The diagonal of the Cholesky factor that the whitener inverts.
    pivots = 1 / np.square(np.diagonal(function.whitener))
    return Comparison(len(x), gamma, eps, x[some], float(np.min(pivots)))


def _tangents(run: FitRun, measured: np.ndarray, prior_cov: Square) -> Tangents | None:
    function, count = run.posterior.function, min(MAX_POINTS, len(measured))
    if isinstance(function, ConjugateNetwork):
        network = function.tangents.covariance_in_numpy(measured[:count])
        if network is None:
            network = np.asarray(_cov(function.tangents, measured[:count]))
        return Tangents(prior_cov[:count, :count], network)
    if not isinstance(function, LinearizedNetwork):
        return None
    # A covariance family starts with all weights alike, except those that it holds fixed.
    state = function.covariance.init(function.params, key=jax.random.key(0))
    network = _cov(dataclasses.replace(function, state=state), measured[:count])
    return Tangents(prior_cov[:count, :count], np.asarray(network))


@jit_fast_compile
def _draw(points: AbstractPoints, batch: Points, key: PRNGKeyArray) -> Points:
    return points.draw(batch, key=key)


def _prior_cov(prior: AbstractRandomFunction, x: np.ndarray) -> Square:
    kernel = kernel_in_numpy(prior.kernel) if isinstance(prior, GaussianProcess) else None
    return np.asarray(_cov(prior, x)) if kernel is None or x.ndim != 2 else kernel.gram(x)


@jit_fast_compile
def _cov(function: AbstractRandomFunction, x: Points) -> Float[Array, "point point"]:
    return as_gaussian(function.at(x)).cov[0]


def _observations(run: FitRun, rows: np.ndarray, x: np.ndarray) -> Observations | None:
    likelihood = run.posterior.likelihood.at(x)
    if likelihood.discrete:
        return None
    function: AbstractRandomFunction = run.posterior.function
    values = function.marginals_in_numpy(x) if isinstance(function, NumpyFunction) else None
    f = _mean(run.posterior.function, x) if values is None else values.mean
    y = np.asarray(run.data.y, np.float64)[rows]
    targets = (
        likelihood.gaussian_targets(y).values if likelihood.solved_as_normal else library_layout(y)
    )
    arrays = (library_layout(y), *_finite_moments(likelihood, f), targets)
    return Observations(*map(np.asarray, arrays))


@jit_fast_compile
def _mean(function: AbstractRandomFunction, x: Points) -> FunctionValues:
    if isinstance(function, LinearizedNetwork):  # whose variances would take longer
        return function.network.apply(function.params, x).T
    return function.marginals(x).mean


def _finite_moments(likelihood: AbstractLikelihood, f: FunctionValues) -> tuple[AtRows, AtRows]:
    """Mean and variance of observations, with the scale of the noise for an infinite variance."""
    is_normal = isinstance(likelihood, AbstractNoisyLikelihood)
    found = likelihood.moments(f) if is_normal else _moments(likelihood, f)
    mean, variance = map(np.asarray, found)
    if likelihood.noise_std is None:
        return mean, variance
    noise = np.reshape(likelihood.noise_std, (-1, 1))
    return mean, np.where(np.isfinite(variance), variance, noise**2)


@jit_fast_compile
def _moments(likelihood: AbstractLikelihood, f: FunctionValues) -> tuple[Responses, Responses]:
    return likelihood.moments(f)
