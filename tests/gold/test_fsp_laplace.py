"""Laplace with a prior over functions against precisions that are written out in NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from gfsvi import Data, Model, Training
from gfsvi.covariances import Subspace
from gfsvi.functions import GaussianProcess, LinearizedNetwork
from gfsvi.inference.mean_fit import GaussNewtonMean, TrainedMean
from gfsvi.kernels import RBF, Constant, Linear, Matern12
from gfsvi.likelihoods import Bernoulli, Categorical, Normal, Poisson, StudentT
from gfsvi.methods import FSPLaplace
from gfsvi.methods.fsp_laplace import prior_directions
from gfsvi.networks import MLP
from gfsvi.points import FixedPoints, Mixture, UniformBox
from gfsvi.training import Adam

KEY = jax.random.key(0)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(9, 2))
POINTS = RANDOM.normal(size=(6, 2))
GRID = 2 * RANDOM.normal(size=(5, 2))
LENGTHSCALE, VARIANCE = 1.3, 0.8
SHORT = TrainedMean(Training(num_steps=3, optimizer=Adam(1e-2), evaluate_every=2))


def sharpness_of_classes(f):
    p = np.exp(f) / np.sum(np.exp(f))
    return np.diag(p) - np.outer(p, p)


def sharpness_of_two_classes(f):
    p = 1 / (1 + np.exp(-f[0]))
    return np.array([[p * (1 - p)]])


# likelihood, observations, outputs, and minus the second derivative of log p(y | f), by hand
PROBLEMS = {
    "normal": (Normal(0.4), RANDOM.normal(size=9), 1, lambda f: np.eye(1) / 0.4**2),
    "two_noises": (
        Normal(np.array([0.4, 0.9])),
        RANDOM.normal(size=(9, 2)),
        2,
        lambda f: np.diag([1 / 0.4**2, 1 / 0.9**2]),
    ),
    "counts": (Poisson(), np.arange(9) % 4, 1, lambda f: np.exp(f)[:, None]),
    "two_classes": (Bernoulli(), np.arange(9) % 2, 1, sharpness_of_two_classes),
    "classes": (Categorical(), np.arange(9) % 3, 3, sharpness_of_classes),
}


class Case:
    """A fit after a few steps, and its posterior with every matrix written out."""

    def __init__(self, problem, points=POINTS, weights=None, eps=1e-6, gamma=1e-10):
        self.likelihood, y, outputs, self.sharpness = PROBLEMS[problem]
        self.data, self.points, self.gamma = Data(X, y, weights), points, gamma
        self.prior = GaussianProcess(RBF(LENGTHSCALE, VARIANCE), outputs=outputs)
        method = FSPLaplace(
            MLP((4,), outputs),
            FixedPoints(points),
            gamma=gamma,
            eps=eps,
            mean=SHORT,
            dtype=jnp.float64,
        )
        self.posterior = method(Model(self.prior, self.likelihood), self.data, key=KEY).posterior

    @property
    def function(self):
        return self.posterior.function

    def jacobian(self, x):
        """J with axes (point, output, weight)."""
        flat, restore = ravel_pytree(self.function.params)
        return np.asarray(jax.jacrev(lambda w: self.function.network.apply(restore(w), x))(flat))

    @functools.cached_property
    def prior_precision(self):
        """The sum over outputs of J^T K^-1 J: outputs are independent."""
        squares = np.sum((self.points[:, None] - self.points) ** 2, axis=-1)
        gram = VARIANCE * np.exp(-squares / (2 * LENGTHSCALE**2))
        inverse = np.linalg.inv(gram + self.gamma * len(gram) * np.eye(len(gram)))
        jacobian = np.swapaxes(self.jacobian(self.points), 0, 1)
        return sum(j.T @ inverse @ j for j in jacobian)

    @functools.cached_property
    def curvature(self):
        f = np.asarray(self.function.network.apply(self.function.params, self.data.x))
        rows = zip(self.jacobian(X), f, np.asarray(self.data.row_weights), strict=True)
        return sum(count * j.T @ self.sharpness(row) @ j for j, row, count in rows)

    @functools.cached_property
    def covariance(self):
        """The inverse of the precision where the prior has one, zero elsewhere."""
        values, vectors = np.linalg.eigh(self.prior_precision)
        seen = vectors[:, values > 1e-12 * values[-1]]
        precision = seen.T @ (self.prior_precision + self.curvature) @ seen
        return seen @ np.linalg.inv(precision) @ seen.T

    def check(self):
        jacobian = self.jacobian(GRID)
        expected = np.einsum("pkw,wv,plv->pkl", jacobian, self.covariance, jacobian)
        np.testing.assert_allclose(self.function.marginals(GRID).cov, expected, rtol=1e-5)
        jointly = np.einsum("pkw,wv,qkv->kpq", jacobian, self.covariance, jacobian)
        found = self.function.at(GRID).cov
        np.testing.assert_allclose(found, jointly, rtol=1e-5, atol=1e-6 * np.max(jointly))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_posterior_inverts_the_precision_of_prior_and_data(problem):
    case = Case(problem)
    assert np.linalg.matrix_rank(case.prior_precision) < len(case.prior_precision)
    case.check()


def test_with_more_points_than_weights_every_direction_is_uncertain():
    points = np.random.default_rng(1).normal(size=(25, 2))
    case = Case("normal", points, eps=1e-13, gamma=1e-4)
    assert case.function.covariance.rank == len(case.prior_precision) == 17
    case.check()


def test_rows_count_by_their_weights():
    Case("classes", weights=np.linspace(0.5, 3, 9)).check()


@pytest.mark.parametrize("kernel", [RBF(1.0), Matern12(2.0)], ids=["smooth", "rough"])
def test_before_the_data_the_values_at_the_points_are_the_priors(kernel):
    network = MLP((4,))
    params = network.init(POINTS, key=KEY, dtype=jnp.float64)
    function = LinearizedNetwork(network, Subspace(), params, Subspace().init(params, key=KEY))
    prior = GaussianProcess(kernel)
    directions = prior_directions(function, prior, jnp.asarray(POINTS), gamma=0.0, eps=1e-12)
    flat, restore = ravel_pytree(params)
    jacobian = jax.jacrev(lambda w: network.apply(restore(w), POINTS)[:, 0])(flat)
    drawn = np.asarray(jacobian) @ directions
    np.testing.assert_allclose(drawn @ drawn.T, prior.at(POINTS).cov[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "likelihood"),
    [(RBF(0.5), Normal(0.2)), (Matern12(1.0), StudentT()), (RBF(0.5), Categorical())],
    ids=["numbers", "outliers", "classes"],
)
def test_data_never_add_variance_at_the_measurement_points(kernel, likelihood):
    random = np.random.default_rng(2)
    x, extra = random.uniform(-1, 1, (20, 1)), random.uniform(-2, 2, (40, 1))
    y = (random.normal(size=20) > 0).astype(int)
    outputs, points = likelihood.num_outputs(y), np.concatenate([x, extra])
    method = FSPLaplace(MLP((50,), outputs), FixedPoints(points), mean=SHORT, dtype=jnp.float64)
    model = Model(GaussianProcess(kernel, outputs=outputs), likelihood)
    posterior = method(model, Data(x, y), key=KEY).posterior
    variance = posterior.function.marginals(points).variance
    prior = model.function.marginals(points).variance + method.gamma * len(points)
    assert np.all(variance <= prior * (1 + 1e-9))
    at_rows, elsewhere = variance[:, :20], variance[:, 20:]
    assert np.mean(at_rows) < 0.9 * np.mean(elsewhere)  # and at the rows they take some away


def test_a_linear_network_under_a_linear_prior_is_the_exact_process():
    random = np.random.default_rng(3)
    x = random.normal(size=(12, 2))
    y = x @ np.array([0.7, -0.4]) + 0.2 + 0.3 * random.normal(size=12)
    prior = GaussianProcess(Linear(np.array([0.5, 2.0])) + Constant(1.5))
    points = Mixture((FixedPoints(), UniformBox(10)))
    method = FSPLaplace(MLP(()), points, gamma=1e-12, mean=GaussNewtonMean(), dtype=jnp.float64)
    function = method(Model(prior, Normal(0.3)), Data(x, y), key=KEY).posterior.function
    features, grid = (np.column_stack([z, np.ones(len(z))]) for z in (x, 10 * GRID))
    precision = features.T @ features / 0.3**2 + np.diag([1 / 0.5, 1 / 2.0, 1 / 1.5])
    mean = np.linalg.solve(precision, features.T @ y / 0.3**2)
    np.testing.assert_allclose(function.at(10 * GRID).mean[0], grid @ mean, rtol=1e-5)
    expected = grid @ np.linalg.inv(precision) @ grid.T
    np.testing.assert_allclose(function.at(10 * GRID).cov[0], expected, rtol=1e-5)


def test_directions_that_the_points_hardly_see_are_left_out():
    points = np.linspace(-1, 1, 30)[:, None] * np.ones(2)
    few, more = (Case("normal", points, eps=eps).function for eps in (1e-2, 1e-8))
    assert few.covariance.rank < more.covariance.rank < 17
    assert np.all(few.marginals(points).variance <= more.marginals(points).variance + 1e-9)


def test_mean_and_covariance_are_found_at_the_same_points(monkeypatch):
    seen = []

    def fit_mean(model, prior, data, points, **options):
        seen.append(points)
        return model

    def directions(function, prior, x, **options):
        seen.append(x)
        return prior_directions(function, prior, x, **options)

    monkeypatch.setattr("gfsvi.inference.gauss_newton.fit_mean", fit_mean)
    monkeypatch.setattr("gfsvi.methods.fsp_laplace.prior_directions", directions)
    method = FSPLaplace(MLP((4,)), UniformBox(5), mean=GaussNewtonMean(num_rounds=1))
    method(Model(GaussianProcess(RBF()), Normal()), Data(X, X[:, 0]), key=KEY)
    np.testing.assert_array_equal(*seen)
