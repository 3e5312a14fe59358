"""Laplace with a prior over functions: a Gaussian around a network that fits data and prior.

With the Jacobian J of the network at the measurement points and the prior covariance K there, the
precision of the weights is J^T K^-1 J + H, where H is the curvature of the log-likelihood. To
directions that J does not see the prior assigns no precision, and they are left out. N with
N N^T = (J^T K^-1 J)^+ gives the covariance N (I + N^T H N)^-1 N^T, whose values at the measurement
points vary at most as much as the prior's: J N N^T J^T <= K. The paper approximates K^-1 by Lanczos
iterations instead, too small in some directions, and has to cut the covariance until that holds.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.linalg import eigh, solve_triangular, svd

from gfsvi.covariances.subspace import Subspace
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, correlation_lengths
from gfsvi.functions.ensemble import Ensemble
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.curvature import curvature_along
from gfsvi.inference.initialization import MAX_SCALED_FEATURES, random_start
from gfsvi.inference.mean_fit import AbstractMeanFit, MeanProblem, draw_points
from gfsvi.inference.models import K, LinearizedModel
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.jacobian import as_matrix
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.linalg import add_to_diagonal, cholesky
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.history import Fit
from gfsvi.training.steps import Where
from gfsvi.values import as_gaussian

MAX_POINTS, MIN_POINTS, IMAGE_POINTS = 500, 100, 50

Weights = Float[np.ndarray, "weight direction"]


class FSPLaplace(AbstractMethod[AbstractRandomFunction]):
    """Laplace under a prior over functions, in the directions it determines (Cinquin et al. 2024).

    The mean is the most probable network, its noise that of the model.

    Args:
        network: Any network; its outputs must match the likelihood.
        points: Measurement points, where the prior acts on the network; by default training inputs
            and points in a box around them.
        gamma: The regulariser of the prior at the measurement points.
        eps: Directions in which the squared Jacobian at the measurement points is smaller than this
            share of its mean per point are left out.
        mean: How to fit the mean.
        calibration: How held-out rows, if given, set the noise.
        dtype: Precision of the network; the linear algebra is always float64.
        fixed: Picks the parts of the model that stay fixed; with anything fixed, the noise is.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = AbstractRandomFunction

    network: AbstractNetwork = MLP()
    points: AbstractPoints | None = None
    gamma: float = eqx.field(static=True, default=1e-10)
    eps: float = eqx.field(static=True, default=1e-6)
    mean: AbstractMeanFit = AutoMean()
    calibration: AbstractCalibration = HeldOut()
    dtype: DTypeLike = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self,
        model: Model[AbstractRandomFunction, K],
        data: Data,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
    ) -> Fit[LinearizedModel[K]]:
        self.check(model, data, self.network)
        start_key, points_key, noise_key = jax.random.split(key, 3)
        points = self._points_for(model, data)
        x = draw_points(points, jnp.asarray(data.x), points_key)
        start = self._start(model, data, x, start_key)
        problem = MeanProblem(model.function, points, self.gamma, data)
        # The same key draws the same points.
        trained = self.mean(start, problem, key=points_key, validation=validation)
        function = trained.posterior.function
        directions = prior_directions(function, model.function, x, gamma=self.gamma, eps=self.eps)
        posterior = laplace_along(directions, trained.posterior, data)
        if validation is not None and self.fixed is None:
            posterior = self.calibration(
                posterior, validation, key=noise_key, prior=model, data=data
            )
        return Fit(posterior, trained.history)

    def _points_for(self, model: Model, data: Data) -> AbstractPoints:
        if self.points is not None:
            return self.points.bind(data.x)
        return default_points(data, model.likelihood.num_outputs(data.y)).bind(data.x)

    def _start(
        self, model: Model[AbstractRandomFunction, K], data: Data, x: Points, key: PRNGKeyArray
    ) -> LinearizedModel[K]:
        """Random weights that vary on the length scales of the prior."""
        shape = np.shape(data.x)
        is_scaled = len(shape) == 2 and shape[1] <= MAX_SCALED_FEATURES
        lengths = correlation_lengths(model.function, data.x) if is_scaled else None
        options = (self.network, Subspace(1), x, self.dtype, lengths)
        return Model(random_start(LinearizedNetwork, *options, key=key), model.likelihood)


def default_points(data: Data, num_outputs: int) -> AbstractPoints:
    """Training inputs and points in a box around them, fewer for images and many outputs.

    A point takes one row and column of the matrices per output.
    """
    if np.ndim(data.x) > 2:
        return Mixture((BatchRows(IMAGE_POINTS // 2), UniformBox(IMAGE_POINTS // 2)))
    most = max(MIN_POINTS, round(MAX_POINTS / num_outputs**0.5))
    num_box = most // 5
    rows = FixedPoints() if len(data) <= most - num_box else BatchRows(most - num_box)
    return Mixture((rows, UniformBox(num_box)))


def prior_directions(
    function: LinearizedNetwork,
    prior: AbstractRandomFunction,
    x: Points,
    *,
    gamma: float,
    eps: float,
) -> Weights:
    """N with N N^T = (J^T K^-1 J)^+: weights that draw the prior's values at `x`.

    With J J^T = Q T Q^T, J^T Q T^-1 are the smallest weights that move the values along the axes
    Q. Along these, the prior has the precision Q^T K^-1 Q = W D^2 W^T, hence N = J^T Q T^-1 W D^-1.
    """
    jacobian, factor = map(np.asarray, _at_points(function, prior, x, gamma))
    num_outputs, num_points, num_weights = jacobian.shape
    flat = np.reshape(jacobian, (-1, num_weights))
    tangent = flat @ flat.T
    squares, axes = eigh(tangent)
    seen = squares > eps * np.mean(np.diagonal(tangent))
    squares, axes = squares[seen], axes[:, seen]
    factors = np.broadcast_to(factor, (num_outputs, num_points, num_points))
    by_output = np.reshape(axes, (num_outputs, num_points, -1))
    pairs = zip(factors, by_output, strict=True)
    white = np.concatenate([solve_triangular(f, a, lower=True) for f, a in pairs])
    _, roots, turned = svd(white, full_matrices=False)
    return flat.T @ ((axes / squares) @ (turned.T / roots))


def laplace_along(directions: Weights, model: LinearizedModel[K], data: Data) -> LinearizedModel[K]:
    """The posterior if N N^T is the prior covariance of the weights: N (I + N^T H N)^-1 N^T."""
    network, params = model.function.network, model.function.params
    member = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64)[None], params)
    network_model = Model(Ensemble(network, member), model.likelihood)
    curvature = curvature_along(_by_leaf(directions, params), network_model, data)
    added, axes = eigh(np.asarray(curvature))
    factor = directions @ (axes / np.sqrt(1 + np.maximum(added, 0)))
    dtype = jax.tree.leaves(params)[0].dtype
    state = tuple(leaf.astype(dtype) for leaf in _by_leaf(factor, params))
    function = LinearizedNetwork(network, Subspace(factor.shape[1]), params, state)
    return Model(function, model.likelihood)


@eqx.filter_jit
def _at_points(
    function: LinearizedNetwork, prior: AbstractRandomFunction, x: Points, gamma: float
) -> tuple[Float[Array, "output point weight"], Float[Array, "#output point point"]]:
    """The Jacobian of the network, and a factor of the regularised prior covariance."""
    values = as_gaussian(prior.at(x))
    added = gamma * len(x)
    factor = cholesky(add_to_diagonal(values.cov, added), added)
    params = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), function.params)
    outputs = jnp.eye(len(values.mean))
    leaves = function.network.jacobian(params, jnp.asarray(x, jnp.float64), outputs)
    rows = jnp.concatenate([leaf.multiplied_out() for leaf in leaves], axis=-1)
    return jnp.swapaxes(rows, 0, 1), factor


def _by_leaf(directions: Weights, params: Params) -> tuple[Float[Array, "row column n"], ...]:
    """Directions in the space of all weights as one array for each array of parameters."""
    shapes = [as_matrix(leaf).shape for leaf in jax.tree.leaves(params)]
    cuts = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
    parts = zip(np.split(directions, cuts), shapes, strict=True)
    return tuple(jnp.reshape(part, (*shape, -1)) for part, shape in parts)
