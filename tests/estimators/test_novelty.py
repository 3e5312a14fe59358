import numpy as np
import pytest


@pytest.fixture(scope="module")
def far_away(numbers):
    spread = np.ptp(numbers, axis=0)
    return numbers + 4 * np.where(spread > 0, spread, 1.0)


def test_novelty_is_a_share(classifier, numbers, far_away):
    for rows in (numbers, far_away):
        novelty = classifier.novelty(rows)
        assert novelty.shape == (len(rows),)
        assert np.all((novelty >= 0) & (novelty <= 1))


def test_rows_three_ranges_outside_are_new(classifier, far_away):
    assert np.min(classifier.novelty(far_away)) > 0.9


def test_training_rows_are_known(classifier, regressor, numbers, houses):
    assert np.median(classifier.novelty(numbers)) < 0.6
    assert np.median(regressor.novelty(houses)) < 0.1


def test_a_row_far_away_is_newer_than_any_of_the_training_rows(regressor, houses):
    known = regressor.novelty(houses)
    strange = regressor.novelty(houses.assign(size=4000.0, age=2000.0))
    assert np.min(strange) > np.max(known)
    assert np.min(strange) > 0.9


def test_novelty_of_a_row_does_not_depend_on_the_rows_beside_it(regressor, houses):
    np.testing.assert_allclose(
        regressor.novelty(houses)[:3], regressor.novelty(houses[:3]), rtol=1e-9, atol=1e-12
    )
