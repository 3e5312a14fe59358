import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIRegressor
from gfsvi.plain.posterior import beyond_range


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


def test_dates_after_the_last_one_are_newer_the_later_they_are():
    dates = pd.date_range("2020-01-01", periods=60, freq="7D")
    size = np.random.default_rng(0).uniform(20, 200, 60)
    table = pd.DataFrame({"date": dates, "size": size, "price": 3 * size + 1})  # no trend
    regressor = GFSVIRegressor(hidden=(10,), num_steps=5, kernel="rbf", random_state=0)
    regressor.fit_table(table, "price")
    rows = table.drop(columns="price")[-1:]
    days = [0, 7, 30, 365, 3650]
    later = pd.concat([rows.assign(date=rows.date + pd.Timedelta(days=n)) for n in days])
    novelty = regressor.novelty(later)
    assert novelty[0] < 0.05 < novelty[2] and novelty[4] > 0.99
    assert np.all(np.diff(novelty) > 0)
    earlier = rows.assign(date=table.date.iloc[0] - pd.Timedelta(days=365))
    assert regressor.novelty(earlier)[0] > 0.3


def test_the_column_farthest_beyond_its_range_counts():
    known = np.array([[0.0, -1.0], [1.0, 1.0], [0.5, 0.0]])
    x = np.array([[0.5, 0.5], [1.2, 0.0], [-0.3, 1.5]])
    np.testing.assert_allclose(beyond_range(known, x), [0.0, 0.2, 0.5])
