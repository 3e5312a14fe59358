"""Mixtures of posteriors, and posteriors around a mean function, held to their definitions."""

import jax
import numpy as np
import pytest

from gfsvi.functions import GaussianProcess
from gfsvi.functions.means import Linear
from gfsvi.functions.mixed import Mixed, mixed_moments
from gfsvi.functions.shifted import Shifted, mean_in_numpy
from gfsvi.kernels import RBF, Matern32
from gfsvi.values import Independent

X = np.random.default_rng(0).normal(size=(7, 2))
FIRST = GaussianProcess(RBF(), mean=1.0)
SECOND = GaussianProcess(Matern32(variance=np.array(3.0)), mean=-2.0)
MIXED = Mixed((FIRST, SECOND), np.array([0.3, 0.7]))


def test_moments_of_a_mixture_are_those_of_many_draws():
    rng, count = np.random.default_rng(1), 200_000
    parts = [(np.asarray(f.at(X).mean[0]), np.asarray(f.at(X).cov[0])) for f in (FIRST, SECOND)]
    draws = np.concatenate(
        [
            rng.multivariate_normal(mean, cov, round(weight * count))
            for (mean, cov), weight in zip(parts, (0.3, 0.7), strict=True)
        ]
    )
    values = MIXED.at(X)
    np.testing.assert_allclose(values.mean[0], draws.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(values.cov[0], np.cov(draws.T), atol=0.05)


def test_marginals_are_the_diagonal_of_the_joint_distribution():
    joint, marginals = MIXED.at(X), MIXED.marginals(X)
    np.testing.assert_allclose(marginals.mean, joint.mean, atol=1e-12)
    np.testing.assert_allclose(marginals.variance, joint.variance, atol=1e-12)


def test_disagreement_makes_the_function_less_certain_than_its_members():
    within = 0.3 * FIRST.marginals(X).variance + 0.7 * SECOND.marginals(X).variance
    np.testing.assert_allclose(MIXED.marginals(X).variance - within, 0.3 * 0.7 * 3.0**2, atol=1e-12)


def test_one_weight_per_member_is_needed():
    with pytest.raises(ValueError, match="one weight per member"):
        Mixed((FIRST, SECOND), np.ones(1))


def test_a_shifted_function_has_the_same_covariance_around_another_mean():
    mean = Linear(np.array([1.0, -2.0]), np.array(0.5))
    shifted = Shifted(SECOND, mean)
    expected = -2.0 + X @ [1.0, -2.0] + 0.5
    np.testing.assert_allclose(shifted.at(X).mean[0], expected, atol=1e-12)
    np.testing.assert_allclose(shifted.marginals(X).mean[0], expected, atol=1e-12)
    np.testing.assert_allclose(shifted.at(X).cov, SECOND.at(X).cov)
    np.testing.assert_allclose(mean_in_numpy(mean, X)[0], X @ [1.0, -2.0] + 0.5, atol=1e-12)


def test_draws_of_a_mixture_have_its_mean():
    draws = MIXED.at(X).sample(4000, key=jax.random.key(0))
    np.testing.assert_allclose(np.mean(draws, axis=0), MIXED.at(X).mean, atol=0.15)


def test_moments_in_numpy_are_those_of_the_mixture():
    values = [Independent(f.marginals(X).mean, f.marginals(X).variance) for f in (FIRST, SECOND)]
    found, expected = mixed_moments(values, np.array([0.3, 0.7])), MIXED.marginals(X)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(found.variance, expected.variance, atol=1e-12)
