import numpy as np
import pytest

from gfsvi import GFSVIRegressor
from gfsvi.inference.resolution import LARGEST_SHARE, rounding_noise

RANDOM = np.random.default_rng(0)
SMALL = {"kernel": "rbf", "hidden": (20,), "num_steps": 30, "random_state": 0}


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_it_is_the_standard_deviation_of_rounding(digits):
    values = RANDOM.uniform(0, 30, 3000)
    rounded = np.round(values, digits)
    assert rounding_noise(rounded) == pytest.approx(np.std(rounded - values), rel=0.05)


def test_numbers_that_were_not_rounded_have_hardly_any():
    values = RANDOM.normal(size=1000)
    assert rounding_noise(values) < 1e-4
    noisy_digits = np.repeat([0.1, 0.2, 0.3], 2) + 1e-17 * np.arange(6)
    assert rounding_noise(noisy_digits) == pytest.approx(min(0.1 / 12**0.5, 0.1 * 0.0816), rel=0.01)


def test_a_constant_has_none_and_few_values_a_tenth_of_their_spread():
    assert rounding_noise(np.ones(5)) == 0.0
    grades = np.tile([1.0, 2.0], 50)
    assert rounding_noise(grades) == pytest.approx(LARGEST_SHARE * 0.5)


@pytest.mark.parametrize("likelihood", ["auto", "warped_normal"])
def test_a_target_without_noise_is_not_predicted_more_certainly_than_it_was_recorded(likelihood):
    x = np.linspace(-1, 1, 17)[:, None]
    widths = []
    for inputs in (x, np.append(x, [[1.0001]], axis=0)):
        y = 4 * inputs[:, 0]  # multiples of 0.5, but for the last one that is added
        fit = GFSVIRegressor(likelihood=likelihood, **SMALL)
        low, high = fit.fit(inputs, y).predict_distribution(x).interval(0.95)
        widths.append(float(np.median(high - low)))
    assert widths[0] > 3.5 * 0.5 / 12**0.5 > 2 * widths[1]
