"""Values of a random function."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.numerics.precision import double
from gfsvi.values import Gaussian, Independent, Marginals, Samples

MEAN = np.array([[0.5, -1.0, 2.0], [0.0, 0.3, -0.2]])


def gram() -> np.ndarray:
    grid = np.array([0.0, 0.5, 2.0])
    return np.exp(-np.square(grid[:, None] - grid) / 2)


def test_gaussian_samples_have_its_mean_and_covariance(key):
    cov = np.stack([gram(), 0.25 * gram()])
    draws = np.asarray(Gaussian(MEAN, cov).sample(20_000, key=key))
    assert draws.shape == (20_000, 2, 3)
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.04)
    for output in range(2):
        np.testing.assert_allclose(np.cov(draws[:, output].T), cov[output], atol=0.05)
    across = np.cov(draws[:, 0, 0], draws[:, 1, 0])[0, 1]
    assert abs(across) < 0.02  # outputs are independent


def test_a_shared_covariance_is_every_outputs_covariance(key):
    values = Gaussian(MEAN, gram()[None])
    np.testing.assert_array_equal(values.variance, np.ones((2, 3)))
    draws = np.asarray(values.sample(20_000, key=key))
    np.testing.assert_allclose(np.cov(draws[:, 1].T), gram(), atol=0.05)


def test_a_singular_gaussian_can_be_sampled(key):
    draws = Gaussian(np.zeros((1, 3)), np.ones((1, 3, 3))).sample(50, key=key)
    assert np.all(np.isfinite(draws))
    np.testing.assert_allclose(draws[:, 0, 0], draws[:, 0, 2], atol=1e-4)


@pytest.mark.parametrize(
    ("mean", "cov"), [((3,), (3, 3)), ((1, 3), (1, 2, 2)), ((2, 3), (3, 3, 3))]
)
def test_shapes_that_do_not_fit_raise(mean, cov):
    with pytest.raises(ValueError, match=r"expects mean .* got .* A single output"):
        Gaussian(np.zeros(mean), np.zeros(cov))


def test_marginals_keep_the_covariance_between_outputs(key):
    cov = np.array([[[1.0, 0.8], [0.8, 1.0]], [[0.5, 0.0], [0.0, 2.0]], [[1.0, -0.3], [-0.3, 0.2]]])
    values = Marginals(MEAN, cov)
    np.testing.assert_allclose(values.variance, [[1.0, 0.5, 1.0], [1.0, 2.0, 0.2]])
    draws = np.asarray(values.sample(20_000, key=key))
    np.testing.assert_allclose(draws.mean(axis=0), MEAN, atol=0.05)
    for point in range(3):
        np.testing.assert_allclose(np.cov(draws[:, :, point].T), cov[point], atol=0.06)


def test_marginals_at_a_point_are_those_of_the_gaussian(key):
    gaussian = Gaussian(MEAN, gram()[None])
    marginals = Marginals(MEAN, np.tile(np.eye(2), (3, 1, 1)))
    np.testing.assert_allclose(gaussian.variance, marginals.variance)


@double
def test_independent_outputs_are_marginals_without_covariance_between_outputs(key):
    variance = np.array([[1.0, 0.5, 2.0], [0.1, 2.0, 0.2]])
    values = Independent(MEAN, variance)
    same = Marginals(MEAN, values.cov)
    np.testing.assert_allclose(same.variance, variance)
    noise = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(values.from_noise(noise), same.from_noise(noise), rtol=1e-9)
    draws = np.asarray(values.sample(20_000, key=key))
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.05)


def test_samples_have_the_moments_of_their_draws(key):
    draws = np.random.default_rng(0).standard_normal((50, 2, 3))
    values = Samples(jnp.asarray(draws))
    np.testing.assert_allclose(values.mean, draws.mean(axis=0))
    np.testing.assert_allclose(values.variance, draws.var(axis=0))
    chosen = values.sample(7, key=key)
    assert chosen.shape == (7, 2, 3)
    assert all(any(np.array_equal(one, draw) for draw in draws) for one in chosen)


def test_the_same_key_gives_the_same_samples(key):
    values = Marginals(MEAN, np.tile(np.eye(2), (3, 1, 1)))
    np.testing.assert_array_equal(values.sample(3, key=key), values.sample(3, key=key))
    other = values.sample(3, key=jax.random.key(1))
    assert not np.array_equal(values.sample(3, key=key), other)
