"""Mixtures of normal distributions against integrals, SciPy and the normal predictive."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from gfsvi import metrics
from gfsvi.predictives import NormalMixturePredictive, NormalPredictive

MEANS = np.array([[0.0, 5.0, -2.0], [1.5, -4.0, -2.0], [-3.0, 5.5, -2.0]])
STDS = np.array([[1.0, 0.2, 0.7], [0.3, 2.0, 0.7], [2.0, 1.0, 0.7]])
WEIGHTS = np.array([0.2, 0.5, 0.3])
Y = np.array([0.7, 5.2, -9.0])


@pytest.fixture
def mixture() -> NormalMixturePredictive:
    return NormalMixturePredictive.of(MEANS, STDS, WEIGHTS)


def density(y: float, point: int) -> float:
    parts = zip(WEIGHTS, MEANS[:, point], STDS[:, point], strict=True)
    return sum(w * stats.norm.pdf(y, m, s) for w, m, s in parts)


def probability(y: float, point: int) -> float:
    parts = zip(WEIGHTS, MEANS[:, point], STDS[:, point], strict=True)
    return sum(w * stats.norm.cdf(y, m, s) for w, m, s in parts)


def test_log_densities_are_those_of_the_weighted_sum(mixture):
    expected = [np.log(density(y, point)) for point, y in enumerate(Y)]
    np.testing.assert_allclose(mixture.log_prob(Y), expected, rtol=1e-12)


def test_a_density_far_away_does_not_underflow(mixture):
    assert np.all(np.isfinite(mixture.log_prob(np.full(3, 1e3))))


def test_moments_are_those_of_integrals(mixture):
    for point in range(3):

        def moment(power, point=point):
            return integrate.quad(
                lambda y: y**power * density(y, point), -40, 40, points=list(MEANS[:, point])
            )[0]

        assert mixture.mean[point] == pytest.approx(moment(1), abs=1e-7)
        assert mixture.variance[point] == pytest.approx(moment(2) - moment(1) ** 2, abs=1e-6)


def test_equal_components_do_not_disagree(mixture):
    assert mixture.epistemic_variance[2] == 0
    assert mixture.aleatoric_variance[2] == pytest.approx(0.49)


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6))
def test_quantiles_invert_the_distribution_function(level):
    quantiles = NormalMixturePredictive.of(MEANS, STDS, WEIGHTS).quantile(level)
    found = [probability(y, point) for point, y in enumerate(quantiles)]
    np.testing.assert_allclose(found, level, rtol=1e-9)


def test_several_levels_are_rows(mixture):
    found = mixture.quantile(np.array([0.1, 0.9]))
    assert found.shape == (2, 3)
    np.testing.assert_array_equal(found[1], mixture.quantile(0.9))
    np.testing.assert_allclose(mixture.cdf(found), [[0.1] * 3, [0.9] * 3], rtol=1e-9)


def test_crps_is_the_integral_of_the_squared_difference_of_distribution_functions(mixture):
    def crps(point: int) -> float:
        below = integrate.quad(lambda y: probability(y, point) ** 2, -40, Y[point], limit=400)[0]
        above = integrate.quad(lambda y: (1 - probability(y, point)) ** 2, Y[point], 40, limit=400)
        return below + above[0]

    expected = np.mean([crps(point) for point in range(3)])
    assert metrics.crps(mixture, Y) == pytest.approx(expected, rel=1e-7)


def test_crps_agrees_with_the_estimate_from_samples(mixture):
    draws = mixture.sample(40_000, key=jax.random.key(1))
    error = np.mean(np.abs(draws - Y), axis=0)
    spread = np.mean(np.abs(draws[:20_000] - draws[20_000:]), axis=0)
    assert metrics.crps(mixture, Y) == pytest.approx(np.mean(error - spread / 2), rel=0.01)


def test_samples_have_the_moments_of_the_mixture(mixture):
    draws = mixture.sample(40_000, key=jax.random.key(0))
    assert draws.shape == (40_000, 3)
    np.testing.assert_allclose(draws.mean(axis=0), mixture.mean, atol=0.08)
    np.testing.assert_allclose(draws.std(axis=0), mixture.std, rtol=0.02)


def test_one_component_is_the_normal_predictive():
    normal = NormalPredictive(MEANS[0], np.zeros(3), STDS[0] ** 2)
    mixture = NormalMixturePredictive.of(MEANS[:1], STDS[:1], np.ones(1))
    np.testing.assert_allclose(mixture.log_prob(Y), normal.log_prob(Y), rtol=1e-12)
    np.testing.assert_allclose(mixture.interval(0.9), normal.interval(0.9), rtol=1e-9)
    assert metrics.crps(mixture, Y) == pytest.approx(metrics.crps(normal, Y), rel=1e-12)
    np.testing.assert_allclose(mixture.expected_log_prob(Y), normal.log_prob(Y), rtol=1e-12)


def test_rescaling_changes_units(mixture):
    scaled = mixture.rescaled(-2.0, 3.0)
    np.testing.assert_allclose(scaled.log_prob(3 - 2 * Y), mixture.log_prob(Y) - np.log(2))
    np.testing.assert_allclose(scaled.quantile(0.3), 3 - 2 * mixture.quantile(0.7), rtol=1e-9)
    assert metrics.crps(scaled, 3 - 2 * Y) == pytest.approx(2 * metrics.crps(mixture, Y))


def test_the_first_points_are_those_of_the_whole(mixture):
    np.testing.assert_array_equal(mixture.head(2).mean, mixture.mean[:2])
    assert "mean" in repr(mixture)
