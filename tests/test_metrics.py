"""Metrics on cases whose answer is known."""

import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import mean_pinball_loss

from gfsvi import metrics
from gfsvi.likelihoods import StudentT
from gfsvi.predictives import CategoricalPredictive, MixturePredictive, NormalPredictive

RANDOM = np.random.default_rng(0)


def normal(shape: tuple[int, ...]) -> NormalPredictive:
    return NormalPredictive(RANDOM.standard_normal(shape), np.full(shape, 0.6), np.full(shape, 0.4))


def labels(probabilities: np.ndarray) -> CategoricalPredictive:
    return CategoricalPredictive(np.log(probabilities)[None])


def test_log_likelihoods_are_means_over_all_scalar_components():
    predictive = normal((50, 2))
    y = np.asarray(predictive.mean) + 0.5
    parts = [
        NormalPredictive(predictive.mean[:, i], np.full(50, 0.6), np.full(50, 0.4)) for i in (0, 1)
    ]
    for metric in (metrics.expected_log_likelihood, metrics.log_predictive_density):
        separate = np.mean([metric(part, y[:, i]) for i, part in enumerate(parts)])
        np.testing.assert_allclose(metric(predictive, y), separate)
    closed = -0.5 * np.log(2 * np.pi * 0.4) - (0.25 + 0.6) / 0.8
    np.testing.assert_allclose(metrics.expected_log_likelihood(predictive, y), closed)


def test_expected_log_likelihood_is_below_the_log_predictive_density():
    predictive = normal((50,))
    y = np.asarray(predictive.mean) + 1
    lower = metrics.expected_log_likelihood(predictive, y)
    assert lower < metrics.log_predictive_density(predictive, y)


def test_mse_is_the_mean_square_also_for_a_column():
    predictive = normal((50,))
    y = np.asarray(predictive.mean) + 2
    assert metrics.mse(predictive, y) == pytest.approx(4)
    assert metrics.mse(predictive, y[:, None]) == pytest.approx(4)


def test_a_wrong_number_of_observations_raises():
    with pytest.raises(ValueError, match=r"expects one observation .*\(50,\); got \(49,\)"):
        metrics.mse(normal((50,)), np.zeros(49))


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_true_model_covers_its_level(level):
    predictive = normal((4000,))
    y = np.asarray(predictive.mean) + RANDOM.standard_normal(4000)
    assert metrics.coverage(predictive, y, level) == pytest.approx(level, abs=0.03)
    assert metrics.coverage(predictive, y + 100, level) == 0


def test_a_true_mixture_covers_its_level(key):
    predictive = MixturePredictive.of(StudentT(0.3), jnp.asarray(RANDOM.normal(size=(64, 1, 300))))
    y = np.asarray(predictive.sample(1, key=key))[0]
    assert metrics.coverage(predictive, y, 0.8) == pytest.approx(0.8, abs=0.08)


def test_the_interval_score_is_the_sum_of_two_quantile_losses():
    predictive = NormalPredictive(np.zeros(5), np.zeros(5), np.ones(5))
    y = np.array([-4.0, -1.0, 0.0, 2.0, 5.0])
    for level in (0.5, 0.95):
        losses = [
            mean_pinball_loss(y, np.full(5, norm.ppf(q)), alpha=q)
            for q in ((1 - level) / 2, (1 + level) / 2)
        ]
        expected = 2 / (1 - level) * sum(losses)
        assert metrics.interval_score(predictive, y, level) == pytest.approx(expected)


def test_the_interval_score_is_the_width_where_all_is_inside():
    predictive = NormalPredictive(np.zeros(3), np.zeros(3), np.full(3, 4.0))
    found = metrics.interval_score(predictive, np.zeros(3), 0.9)
    assert found == pytest.approx(4 * norm.ppf(0.95))


def test_sampled_crps_is_unbiased_for_few_samples(key):
    # E over draws of the estimate does not depend on their number; the biased one would.
    predictive = MixturePredictive.of(
        StudentT(0.3, 30.0), jnp.asarray(RANDOM.normal(size=(200, 1, 400)))
    )
    y = np.zeros(400)
    few = metrics.crps(predictive, y, num_samples=3, key=key)
    many = metrics.crps(predictive, y, num_samples=1000, key=key)
    assert few == pytest.approx(many, abs=0.06)
    # E|Y| - E|Y - Y'|/2 = s (sqrt(2) - 1) / sqrt(pi) for a normal of standard deviation s
    assert many == pytest.approx(np.sqrt(1.096) * (np.sqrt(2) - 1) / np.sqrt(np.pi), rel=0.05)


def test_accuracy_counts_the_most_probable_class():
    predictive = labels(np.array([[0.6, 0.4], [0.3, 0.7], [0.9, 0.1], [0.2, 0.8]]))
    assert metrics.accuracy(predictive, np.array([0, 1, 1, 1])) == 0.75


def test_calibrated_probabilities_have_a_small_calibration_error():
    top = RANDOM.uniform(0.5, 1, 20_000)
    y = (RANDOM.uniform(size=20_000) > top).astype(int)
    predictive = labels(np.stack([top, 1 - top], axis=1))
    assert metrics.expected_calibration_error(predictive, y) < 0.015
    assert metrics.expected_calibration_error(predictive, np.ones(20_000)) > 0.5


def test_calibration_error_is_the_gap_of_one_full_bin():
    predictive = labels(np.tile([0.9, 0.1], (10, 1)))
    y = np.array([0] * 6 + [1] * 4)
    assert metrics.expected_calibration_error(predictive, y) == pytest.approx(0.3)


def test_calibration_bins_do_not_cancel_each_other():
    predictive = labels(np.array([[0.9, 0.1], [0.6, 0.4]]))
    # 0.1 too little confidence in the one bin, 0.6 too much in the other
    error = metrics.expected_calibration_error(predictive, np.array([0, 1]))
    assert error == pytest.approx((0.1 + 0.6) / 2)


def test_a_shift_of_one_half_is_a_squared_distance_of_one_quarter():
    assert metrics.wasserstein2_squared(0.5, 1.0, 0.0, 1.0) == 0.25
    draws = RANDOM.standard_normal((100, 3))
    shuffled = RANDOM.permutation(draws + 0.5, axis=0)
    distance = metrics.wasserstein2_squared_from_samples(draws, shuffled)
    np.testing.assert_allclose(distance, 0.25)


def test_sampled_wasserstein_distance_approaches_the_closed_form():
    q, p = RANDOM.normal(1, 2, (50_000, 1)), RANDOM.normal(0, 0.5, (50_000, 1))
    closed = metrics.wasserstein2_squared(1.0, 2.0, 0.0, 0.5)
    assert metrics.wasserstein2_squared_from_samples(q, p)[0] == pytest.approx(closed, rel=0.03)
    with pytest.raises(ValueError, match=r"one shape .* got .* Draw equally many"):
        metrics.wasserstein2_squared_from_samples(q, p[1:])


def test_separable_scores_are_told_apart_whichever_is_larger():
    small, large = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])
    assert metrics.out_of_distribution_accuracy(small, large) == 1
    assert metrics.out_of_distribution_accuracy(large, small) == 1


def test_identical_scores_cannot_be_told_apart():
    scores = RANDOM.standard_normal(100)
    assert metrics.out_of_distribution_accuracy(np.ones(7), np.ones(7)) == 0.5
    assert metrics.out_of_distribution_accuracy(scores, scores) == 0.5


SCORES = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@hypothesis.given(SCORES, SCORES)
def test_the_best_threshold_is_found(inside, outside):
    inside, outside = np.array(inside), np.array(outside)
    best = 0.0
    for threshold in np.arange(-0.5, 7.5):
        right = np.sum(inside < threshold) + np.sum(outside > threshold)
        share = right / (len(inside) + len(outside))
        best = max(best, share, 1 - share)
    assert metrics.out_of_distribution_accuracy(inside, outside) == pytest.approx(best)


def test_unusable_scores_raise():
    for inside in ([np.nan, 1.0], []):
        with pytest.raises(ValueError, match="expects finite scores, at least one per set"):
            metrics.out_of_distribution_accuracy(inside, [1.0])
