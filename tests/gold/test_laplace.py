"""Laplace against Jacobians, Gauss-Newton matrices and evidences that are written out."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import multivariate_normal

from gfsvi import Data, Model, Training
from gfsvi.covariances import Diagonal, Full, Kronecker, LastLayer, RotatedDiagonal
from gfsvi.functions import BayesianNetwork, Ensemble, LinearizedNetwork
from gfsvi.inference.curvature import curvature
from gfsvi.inference.point_estimate import WeightPrior
from gfsvi.likelihoods import Bernoulli, Categorical, Normal, WarpedNormal
from gfsvi.methods import Laplace
from gfsvi.methods.laplace import chosen_prior, log_marginal_likelihood
from gfsvi.networks import CNN, MLP
from gfsvi.predictives.warp import Warp
from gfsvi.training import Adam

KEY = jax.random.key(0)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(9, 2))
GRID = RANDOM.normal(size=(6, 2))
SCALE = 0.7


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
    "warped": (
        WarpedNormal(0.5, Warp()),
        RANDOM.normal(size=9),
        1,
        lambda f: np.eye(1) / 0.5**2,
    ),
    "classes": (Categorical(), np.arange(9) % 3, 3, sharpness_of_classes),
    "two_classes": (Bernoulli(), np.arange(9) % 2, 1, sharpness_of_two_classes),
}


class Case:
    """A network at random weights, and everything about it written out."""

    def __init__(self, problem="normal", network=None, x=X, grid=GRID, num_rows=None):
        self.likelihood, y, outputs, self.sharpness = PROBLEMS[problem]
        self.network = MLP((4,), outputs) if network is None else network
        self.data, self.grid = Data(x[:num_rows], y[:num_rows]), grid
        self.params = self.network.init(x, key=KEY, dtype=jnp.float64)
        stacked = jax.tree.map(lambda leaf: leaf[None], self.params)
        self.model = Model(Ensemble(self.network, stacked), self.likelihood)
        prior = BayesianNetwork.prior(self.network, x, scale=SCALE, dtype=jnp.float64)
        self.prior = WeightPrior.of(prior)

    def jacobian(self, x):
        flat, restore = ravel_pytree(self.params)
        return np.asarray(jax.jacrev(lambda w: self.network.apply(restore(w), x))(flat))

    @functools.cached_property
    def gauss_newton(self):
        f = np.asarray(self.network.apply(self.params, self.data.x))
        pairs = zip(self.jacobian(self.data.x), map(self.sharpness, f), strict=True)
        return sum(j.T @ sharpness @ j for j, sharpness in pairs)

    def found(self, structure):
        return curvature(structure, self.model, self.data)

    def variances(self, structure):
        state = self.found(structure).state(self.prior.stds)
        function = LinearizedNetwork(self.network, structure, self.params, state)
        return function.marginals(self.grid).cov

    def expected(self, covariance):
        jacobian = self.jacobian(self.grid)
        return np.einsum("pkw,wv,plv->pkl", jacobian, covariance, jacobian)

    def precision(self, gauss_newton):
        return gauss_newton + np.eye(len(gauss_newton)) / SCALE**2


@pytest.mark.parametrize("problem", PROBLEMS)
def test_full_variances_are_those_of_the_gauss_newton_matrix(problem):
    case = Case(problem)
    expected = case.expected(np.linalg.inv(case.precision(case.gauss_newton)))
    np.testing.assert_allclose(case.variances(Full()), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_diagonal_variances_are_those_of_the_diagonal_of_the_gauss_newton_matrix(problem):
    case = Case(problem)
    precision = case.precision(np.diag(np.diag(case.gauss_newton)))
    expected = case.expected(np.linalg.inv(precision))
    np.testing.assert_allclose(case.variances(Diagonal()), expected, rtol=1e-9, atol=1e-12)


def test_last_layer_variances_are_those_of_its_block_of_the_gauss_newton_matrix():
    case = Case("classes")
    size = case.params[-1].size
    block = case.precision(case.gauss_newton)[-size:, -size:]
    covariance = np.zeros_like(case.gauss_newton)
    covariance[-size:, -size:] = np.linalg.inv(block)
    expected = case.expected(covariance)
    np.testing.assert_allclose(case.variances(LastLayer()), expected, rtol=1e-9, atol=1e-12)


def rotation_by_hand(case):
    """Eigenvectors of the Kronecker factors of each layer's block, as one matrix."""
    f = np.asarray(case.network.apply(case.params, case.data.x))
    roots = [np.linalg.cholesky(case.sharpness(row) + 1e-13 * np.eye(len(row))) for row in f]
    rows = np.stack([r.T @ j for r, j in zip(roots, case.jacobian(case.data.x), strict=True)])
    rotation, start = np.zeros(case.gauss_newton.shape), 0
    for leaf in case.params:
        cut = slice(start, start + leaf.size)
        g = rows[..., cut].reshape(*rows.shape[:2], *leaf.shape)
        left = np.linalg.eigh(np.einsum("pkio,pkjo->ij", g, g))[1]
        right = np.linalg.eigh(np.einsum("pkio,pkiq->oq", g, g))[1]
        rotation[cut, cut] = np.kron(left, right)
        start += leaf.size
    return rotation


@pytest.mark.parametrize("problem", ["normal", "two_noises", "warped"])
def test_kronecker_variances_keep_the_diagonal_along_the_axes_of_the_factors(problem):
    case = Case(problem)
    rotation = rotation_by_hand(case)
    diagonal = np.diag(np.diag(rotation.T @ case.gauss_newton @ rotation))
    precision = case.precision(rotation @ diagonal @ rotation.T)
    expected = case.expected(np.linalg.inv(precision))
    np.testing.assert_allclose(case.variances(RotatedDiagonal()), expected, rtol=1e-6)


def test_kronecker_variances_are_exact_within_layers_for_a_single_row():
    case = Case(num_rows=1)
    blocks, start = np.zeros_like(case.gauss_newton), 0
    for leaf in case.params:
        cut = slice(start, start + leaf.size)
        blocks[cut, cut] = case.gauss_newton[cut, cut]
        start += leaf.size
    expected = case.expected(np.linalg.inv(case.precision(blocks)))
    np.testing.assert_allclose(case.variances(RotatedDiagonal()), expected, rtol=1e-9)
    diagonal = np.asarray(case.variances(Diagonal()))
    assert not np.allclose(diagonal, expected, rtol=1e-2)


def test_kronecker_is_closer_to_full_than_the_diagonal_is():
    case = Case()
    full, kronecker, diagonal = (
        np.asarray(case.variances(family)) for family in (Full(), RotatedDiagonal(), Diagonal())
    )
    assert np.mean(np.abs(kronecker - full)) < 0.8 * np.mean(np.abs(diagonal - full))


@pytest.mark.slow
def test_convolutions_have_a_diagonal_and_axes_too():
    images = np.sin(np.arange(144.0)).reshape(9, 4, 4, 1)
    case = Case(
        network=CNN((2,), 3, outputs=1, activation=jax.nn.silu), x=images, grid=images[:4] + 0.3
    )
    precision = case.precision(np.diag(np.diag(case.gauss_newton)))
    expected = case.expected(np.linalg.inv(precision))
    np.testing.assert_allclose(case.variances(Diagonal()), expected, rtol=1e-9)
    full = case.expected(np.linalg.inv(case.precision(case.gauss_newton)))
    rotated = np.asarray(case.variances(RotatedDiagonal()))
    assert np.mean(np.abs(rotated - full)) < np.mean(np.abs(expected - full))


@pytest.mark.slow
@pytest.mark.parametrize("family", [Diagonal(), RotatedDiagonal(), Full()], ids=repr)
def test_streaming_rows_in_blocks_changes_nothing(family, monkeypatch):
    case = Case(network=MLP((3,), 1))
    whole = case.variances(family)
    jax.clear_caches()  # what was compiled with large blocks
    monkeypatch.setattr("gfsvi.networks.jacobian.BLOCK_ELEMENTS", 40)
    np.testing.assert_allclose(case.variances(family), whole, rtol=1e-9)


class LinearProblem:
    """A network without hidden layers: Bayesian linear regression, known in closed form."""

    noise = 0.5

    def __init__(self):
        random = np.random.default_rng(1)
        x = random.normal(size=(12, 2))
        self.data = Data(x, x @ np.array([1.7, -1.4]) + 0.2 + 0.5 * random.normal(size=12))
        self.features = np.column_stack([x, np.ones(12)])
        prior = BayesianNetwork.prior(MLP(()), x, scale=SCALE, dtype=jnp.float64)
        self.model = Model(prior, Normal(self.noise))
        precision = self.features.T @ self.features / self.noise**2 + np.eye(3) / SCALE**2
        self.covariance = np.linalg.inv(precision)
        self.mean = self.covariance @ self.features.T @ self.data.y / self.noise**2

    def evidence(self, scale):
        cov = scale**2 * self.features @ self.features.T + self.noise**2 * np.eye(12)
        return multivariate_normal(np.zeros(12), cov).logpdf(self.data.y)

    def laplace(self, structure, scale=SCALE):
        """Laplace's marginal likelihood at the exact mean of the weights for this scale."""
        precision = self.features.T @ self.features / self.noise**2 + np.eye(3) / scale**2
        mean = np.linalg.solve(precision, self.features.T @ self.data.y / self.noise**2)
        params = (jnp.asarray(mean[:, None]),)
        stacked = jax.tree.map(lambda leaf: leaf[None], params)
        model = Model(Ensemble(MLP(()), stacked), self.model.likelihood)
        found = curvature(structure, model, self.data)
        prior = WeightPrior.of(self.model.function).scaled((jnp.asarray(scale / SCALE),))
        f = model.function.at(self.data.x).mean
        distances, log_det = prior.distances(params), found.log_det(prior.stds)
        value = log_marginal_likelihood(model.likelihood, self.data.y, f, distances, log_det)
        return float(value), found, prior, params


@pytest.mark.parametrize("structure", [Full(), LastLayer(), RotatedDiagonal()], ids=repr)
def test_laplace_of_a_linear_network_is_bayesian_linear_regression(structure):
    problem = LinearProblem()
    training = Training(num_steps=1500, optimizer=Adam(3e-2), evaluate_every=500)
    method = Laplace(structure, training, num_rounds=0)
    predictive = method(problem.model, problem.data, key=KEY).posterior.predict(GRID)
    features = np.column_stack([GRID, np.ones(len(GRID))])
    variance = np.sum(features @ problem.covariance * features, axis=1)
    np.testing.assert_allclose(predictive.mean, features @ problem.mean, atol=1e-4)
    np.testing.assert_allclose(predictive.epistemic_variance, variance, rtol=1e-6)


@pytest.mark.parametrize("structure", [Full(), LastLayer(), RotatedDiagonal()], ids=repr)
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_the_marginal_likelihood_of_a_linear_network_is_the_exact_evidence(structure, scale):
    problem = LinearProblem()
    assert problem.laplace(structure, scale)[0] == pytest.approx(problem.evidence(scale), abs=1e-8)


def test_the_chosen_scale_maximises_the_evidence_of_a_linear_network():
    problem = LinearProblem()
    scale = SCALE
    for _ in range(20):  # the weights follow the scale, and the scale follows the weights
        _, found, prior, params = problem.laplace(Full(), scale)
        scale = float(chosen_prior(prior, params, found).stds[0][0, 0])
    best = problem.evidence(scale)
    assert best > max(problem.evidence(0.95 * scale), problem.evidence(1.05 * scale))


def test_the_chosen_noise_is_close_to_the_one_of_highest_evidence():
    random = np.random.default_rng(3)
    x = random.normal(size=(200, 2))
    data = Data(x, x @ np.array([0.7, -0.4]) + 0.2 + 0.5 * random.normal(size=200))
    model = Model(BayesianNetwork.prior(MLP(()), x, dtype=jnp.float64), Normal(0.05))
    training = Training(num_steps=600, optimizer=Adam(3e-2), evaluate_every=100)
    fit = Laplace(Full(), training, num_rounds=6)(model, data, key=KEY)
    features = np.column_stack([x, np.ones(200)])
    residual = data.y - features @ np.linalg.lstsq(features, data.y, rcond=None)[0]
    unbiased = np.sqrt(np.sum(residual**2) / (200 - 3))
    assert float(fit.posterior.likelihood.noise) == pytest.approx(unbiased, rel=1e-2)


def test_a_family_without_a_projection_raises():
    problem = LinearProblem()
    with pytest.raises(TypeError, match=r"expects one of RotatedDiagonal\(\).*got Kronecker\. For"):
        Laplace(Kronecker())(problem.model, problem.data, key=KEY)


def test_full_laplace_refuses_a_large_network_in_words():
    model = Model(BayesianNetwork.prior(MLP((100, 100)), X), Normal())
    with pytest.raises(ValueError, match="at most 4096 weights"):
        Laplace(Full())(model, Data(X, X[:, 0]), key=KEY)
