"""Gaussian Wasserstein inference where its parts have a closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import sqrtm

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess, NetworkMeanProcess, SparseProcess
from gfsvi.inference.wasserstein import squared_wasserstein
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Normal
from gfsvi.methods import GWI
from gfsvi.networks import MLP
from gfsvi.values import Gaussian

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 2))
DATA = Data(X, np.sin(X[:, 0]) + 0.2 * RANDOM.normal(size=30))
MODEL = Model(GaussianProcess(RBF(1.0, variance=1.5)), Normal(0.2))


def random_covariance(size: int, random: np.random.Generator) -> np.ndarray:
    root = random.normal(size=(size, size))
    return root @ root.T


def test_the_distance_is_that_of_scipys_matrix_root():
    random = np.random.default_rng(1)
    first, second = random_covariance(6, random), random_covariance(6, random)
    means = random.normal(size=(2, 6))
    root = sqrtm(first)
    cross = np.trace(np.real(sqrtm(root @ second @ root)))
    wanted = np.sum((means[0] - means[1]) ** 2) + np.trace(first) + np.trace(second) - 2 * cross
    ours = squared_wasserstein(Gaussian(means[:1], first[None]), Gaussian(means[1:], second[None]))
    assert float(ours) == pytest.approx(wanted / 6, rel=1e-6)


def test_covariances_that_commute_differ_by_their_standard_deviations():
    stds = np.random.default_rng(2).uniform(0.5, 2, size=(2, 5))
    first, second = (Gaussian(np.zeros((1, 5)), np.diag(s**2)[None]) for s in stds)
    wanted = np.mean((stds[0] - stds[1]) ** 2)
    assert float(squared_wasserstein(first, second)) == pytest.approx(wanted, rel=1e-6)


def test_distances_of_outputs_add_up():
    random = np.random.default_rng(3)
    covs = np.stack([random_covariance(4, random) for _ in range(2)])
    prior = random_covariance(4, random)[None]
    means = random.normal(size=(2, 4))
    both = squared_wasserstein(Gaussian(means, covs), Gaussian(np.zeros((2, 4)), prior))
    each = [
        squared_wasserstein(
            Gaussian(means[i : i + 1], covs[i : i + 1]), Gaussian(np.zeros((1, 4)), prior)
        )
        for i in range(2)
    ]
    assert float(both) == pytest.approx(float(sum(each)))


def test_a_posterior_like_its_prior_is_at_no_distance_from_it(key):
    network = MLP((4,))
    params = jax.tree.map(jnp.zeros_like, network.init(X, key=key, dtype=jnp.float64))
    spread = SparseProcess.like(MODEL.function, X[:10])
    process = NetworkMeanProcess(network, params, spread)
    np.testing.assert_allclose(process.at(X).cov, MODEL.function.at(X).cov, atol=1e-12)
    distance = squared_wasserstein(process.at(X), MODEL.function.at(X))
    assert float(distance) == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_training_starts_at_the_covariance_of_the_collapsed_sparse_process(key):
    start = GWI(MLP((4,)), num_inducing=8).initial(MODEL, DATA, key=key)
    inducing, grid = start.function.spread.inducing, RANDOM.normal(size=(12, 2))
    kernel = MODEL.function.kernel
    k_zz = kernel.gram(inducing) + 1.5e-6 * np.eye(8)
    k_zx, k_zg = kernel.cross(inducing, X), kernel.cross(inducing, grid)
    learned = np.linalg.inv(k_zz + k_zx @ k_zx.T / 0.04)
    wanted = kernel.gram(grid) - k_zg.T @ np.linalg.solve(k_zz, k_zg) + k_zg.T @ learned @ k_zg
    np.testing.assert_allclose(start.function.at(grid).cov[0], wanted, atol=1e-6)


def test_the_distance_has_a_finite_slope_where_it_vanishes():
    values = MODEL.function.at(X)
    slope = jax.grad(lambda mean: squared_wasserstein(Gaussian(mean, values.cov), values))
    assert np.all(np.isfinite(slope(values.mean)))
