import numpy as np
import pytest

from gfsvi import GFSVIRegressor


@pytest.fixture(scope="module")
def of_two_targets(houses, numbers, tiny):
    noise = np.random.default_rng(1).normal(size=len(houses))
    y = np.stack([houses["price"], -100 * houses["size"] + 500 * noise], axis=1)
    return GFSVIRegressor(**tiny).fit(numbers.to_numpy(), y), y


def test_it_learns(regressor, houses):
    assert regressor.score(houses, houses["price"]) > 0.9


def test_mean_and_deviation_are_those_of_the_distribution(regressor, houses):
    mean, std = regressor.predict(houses, return_std=True)
    predictive = regressor.predict_distribution(houses)
    np.testing.assert_array_equal(mean, regressor.predict(houses))
    np.testing.assert_array_equal(mean, predictive.mean)
    np.testing.assert_array_equal(std, predictive.std)
    np.testing.assert_allclose(std**2, predictive.epistemic_std**2 + predictive.aleatoric_std**2)


def test_the_covariance_has_the_deviations_on_its_diagonal(regressor, houses):
    _, std = regressor.predict(houses, return_std=True)
    _, cov = regressor.predict(houses, return_cov=True)
    np.testing.assert_allclose(np.diag(cov), std**2, rtol=1e-6)
    np.testing.assert_allclose(cov, cov.T, rtol=1e-6)
    assert np.linalg.eigvalsh(cov)[0] > -1e-6 * np.trace(cov)


def test_deviation_and_covariance_at_once_are_refused_in_words(regressor, houses):
    with pytest.raises(ValueError, match="expects return_std or return_cov; got both"):
        regressor.predict(houses, return_std=True, return_cov=True)


def test_draws_have_the_moments_of_the_predictions(regressor, houses):
    few = houses[:5]
    draws = regressor.sample_y(few, 300)
    mean, std = regressor.predict(few, return_std=True)
    assert draws.shape == (5, 300)
    assert np.all(np.abs(draws.mean(axis=1) - mean) < 5 * std / 300**0.5)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.25)


def test_draws_repeat_with_the_random_state(regressor, houses):
    first, again, other = (regressor.sample_y(houses[:5], 2, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.all(first != other)


def test_the_interval_covers_what_it_says_of_its_own_draws(regressor, houses):
    lower, upper = regressor.predict_distribution(houses).interval(0.9)
    draws = regressor.sample_y(houses, 20)
    inside = (draws > lower[:, None]) & (draws < upper[:, None])
    assert 0.85 < inside.mean() < 0.95


def test_a_target_in_another_unit_gives_the_same_predictions_in_that_unit(regressor, houses, tiny):
    # A power of two: no digit is rounded on the way.
    frame = houses.drop(columns="kind").assign(price=8 * houses["price"])
    scaled = GFSVIRegressor(**tiny).fit_table(frame, "price")
    ours, theirs = (e.predict_distribution(houses) for e in (regressor, scaled))
    np.testing.assert_allclose(theirs.mean, 8 * ours.mean, rtol=1e-12)
    np.testing.assert_allclose(theirs.std, 8 * ours.std, rtol=1e-12)
    np.testing.assert_allclose(theirs.interval(0.9), 8 * np.array(ours.interval(0.9)), rtol=1e-12)
    y = houses["price"].to_numpy()
    np.testing.assert_allclose(theirs.log_prob(8 * y), ours.log_prob(y) - np.log(8), rtol=1e-9)


@pytest.mark.slow
def test_every_target_of_several_is_learned(of_two_targets, numbers):
    estimator, y = of_two_targets
    mean, std = estimator.predict(numbers.to_numpy(), return_std=True)
    assert mean.shape == std.shape == y.shape
    assert np.all(np.mean((mean - y) ** 2, axis=0) < 0.2 * y.var(axis=0))


@pytest.mark.slow
def test_several_targets_have_a_covariance_each(of_two_targets, numbers):
    estimator, _ = of_two_targets
    few = numbers.to_numpy()[:7]
    _, std = estimator.predict(few, return_std=True)
    _, cov = estimator.predict(few, return_cov=True)
    assert cov.shape == (7, 7, 2)
    np.testing.assert_allclose(np.diagonal(cov).T, std**2, rtol=1e-6)
    assert estimator.sample_y(few, 3).shape == (7, 2, 3)
