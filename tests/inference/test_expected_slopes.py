"""Slope and curvature in NumPy are derivatives of the expected log-likelihood of the library."""

import numpy as np
import pytest

from gfsvi import Data
from gfsvi.inference.expected_slopes import _derived, expected_slopes
from gfsvi.likelihoods import Bernoulli, Categorical, NegativeBinomial, Poisson, StudentT
from gfsvi.numerics.precision import double

RANDOM = np.random.default_rng(0)
COUNTS = np.array([0.0, 3.0, 1.0, 12.0, 2.0, 0.0])
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
CASES = {
    "yes or no": (Bernoulli(), np.array([0, 1, 1, 0, 1, 0]), 1),
    "events": (Poisson(), COUNTS, 1),
    "counts": (NegativeBinomial(np.array([0.7, 0.1])), np.stack([COUNTS, COUNTS[::-1]], 1), 2),
    "other": (StudentT(0.3, 5.0), RANDOM.normal(size=6), 1),
}


def moments(outputs):
    return RANDOM.normal(size=(outputs, 6)), RANDOM.uniform(0.05, 3.0, size=(outputs, 6))


@double
@pytest.mark.parametrize("name", CASES)
def test_they_are_derivatives_of_the_expected_log_likelihood(name):
    likelihood, y, outputs = CASES[name]
    mean, variance = moments(outputs)
    found = expected_slopes(likelihood, Data(np.zeros((6, 1)), y, WEIGHTS), mean, variance)
    expected = _derived(likelihood, y, WEIGHTS, mean, variance)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5, atol=1e-6)


@double
def test_two_classes_are_yes_or_no_in_their_difference():
    y = np.array([0, 1, 1, 0, 1, 0])
    (mean, variance), data = moments(2), Data(np.zeros((6, 1)), y, WEIGHTS)
    slope, curvature = expected_slopes(Categorical(2, num_samples=4096), data, mean, variance)
    between = (mean[1:] - mean[:1], variance.sum(axis=0, keepdims=True))
    expected = expected_slopes(Bernoulli(), data, *between)
    for sign, output in ((-1, 0), (1, 1)):
        np.testing.assert_allclose(sign * slope[output], expected[0][0], atol=5e-3)
        np.testing.assert_allclose(curvature[output], expected[1][0], atol=5e-3)


@double
def test_slopes_of_many_classes_add_up_to_nothing():
    y, (mean, variance) = np.arange(6) * 7, moments(50)
    data = Data(np.zeros((6, 1)), y)
    slope, curvature = expected_slopes(Categorical(50), data, mean, variance)
    np.testing.assert_allclose(slope.sum(axis=0), 0, atol=1e-9)
    assert np.all(slope[y, np.arange(6)] > 0) and np.all((curvature > 0) & (curvature < 0.25))
