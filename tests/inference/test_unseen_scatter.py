"""Noise and tails by rows that were not seen, held to the distributions they were drawn from."""

import numpy as np
import pytest
from scipy import stats

from gfsvi.inference.noise_shape import LeftOut
from gfsvi.inference.unseen_scatter import LEAST_WIDENING, even_scatter, noise_range, scatter_by
from gfsvi.likelihoods import AdaptiveNormal

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(1500, 1))


def _rows(residuals, variances):
    return LeftOut(X, residuals, np.broadcast_to(variances, 1500), np.ones(1500))


def test_the_noise_is_what_the_function_does_not_explain():
    residuals = RNG.normal(size=1500) * np.sqrt(0.3**2 + 0.4**2)
    noise, tails, _ = even_scatter(_rows(residuals, 0.3**2), (1e-3, 3.0))
    widened = tails.spread * np.sqrt(tails.degrees_of_freedom / (tails.degrees_of_freedom - 2))
    assert widened * np.sqrt(0.3**2 + noise**2) == pytest.approx(0.5, rel=0.05)


def test_log_densities_are_those_of_students_t():
    residuals = stats.t(4).rvs(1500, random_state=0)
    noise, tails, found = even_scatter(_rows(residuals, 0.1), (1e-3, 3.0))
    scale = tails.spread * np.sqrt(0.1 + noise**2)
    expected = stats.t(tails.degrees_of_freedom, scale=scale).logpdf(residuals)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert tails.degrees_of_freedom <= 6


def test_a_function_that_is_too_sure_is_widened():
    residuals = RNG.normal(size=1500) * 0.1
    variances = np.where(np.arange(1500) % 2, 0.1**2, 1e-6)
    _, tails, _ = even_scatter(_rows(3 * residuals, variances), (1e-3, 2e-3))
    assert tails.spread > 1.2


def test_the_variance_of_the_function_never_shrinks_much():
    # The prior's has to come back far away, whatever rows nearby say.
    residuals = RNG.normal(size=1500) * 0.01
    _, tails, _ = even_scatter(_rows(residuals, 1.0), (1e-3, 3.0))
    freedom = tails.degrees_of_freedom
    assert tails.spread * np.sqrt(freedom / (freedom - 2)) >= LEAST_WIDENING - 1e-9


def test_noise_that_depends_on_the_input_is_found():
    level = np.exp(1.2 * X[:, 0])
    rows = _rows(RNG.normal(size=1500) * 0.2 * level, 1e-4)
    found = scatter_by(AdaptiveNormal(np.array([0.1])), [rows], np.array([1.0]), [(1e-3, 3.0)])
    ends = np.asarray(found.at(np.array([[-0.8], [0.8]])).noise)[0]
    assert ends[1] / ends[0] == pytest.approx(np.exp(1.2 * 1.6), rel=0.25)


def test_even_noise_has_no_function():
    rows = _rows(RNG.normal(size=1500) * 0.2, 1e-4)
    found = scatter_by(AdaptiveNormal(np.array([0.1])), [rows], np.array([1.0]), [(1e-3, 3.0)])
    assert found.factor is None


def test_the_range_of_noise_follows_the_targets():
    targets = RNG.normal(size=500) * 7
    low, high = noise_range(targets)
    assert low == pytest.approx(7e-3, rel=0.1) and high == pytest.approx(21, rel=0.1)
    rounded = np.round(targets)
    assert noise_range(rounded)[0] > 0.2
