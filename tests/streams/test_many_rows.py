"""Effects of categories and cycles of dates."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from gfsvi.data import Data
from gfsvi.numerics.groups import Alone
from gfsvi.streams.effects import PRIOR_ROWS, effects_of_levels, shrunken, sums_by_level
from gfsvi.streams.lanes import lanes_of_arrays
from gfsvi.streams.stream import Layout, Stream
from gfsvi.tables.columns import Categories, Date
from gfsvi.tables.many_rows import Calendar, Effects, for_many_rows


def test_effects_are_ridge_regressions_of_each_level():
    random = np.random.default_rng(0)
    levels = random.integers(0, 4, 500)
    wave = random.normal(size=(500, 1))
    basis = np.concatenate([np.ones((500, 1)), wave], axis=1)
    y = levels[:, None] * (1 + wave) + random.normal(size=(500, 1))
    found = shrunken(sums_by_level(levels, 4, basis, y, np.ones(500)), 2)
    gram = basis.T @ basis / 500
    common = np.linalg.lstsq(basis, y, rcond=None)[0]
    white = np.linalg.cholesky(np.linalg.inv(gram))
    for level in range(4):
        own = levels == level
        ridge = Ridge(alpha=PRIOR_ROWS, fit_intercept=False)
        ridge.fit(basis[own] @ white, (y - basis @ common)[own])
        expected = common + white @ ridge.coef_.reshape(2, 1)
        np.testing.assert_allclose(found[level], expected.ravel(), rtol=1e-6)


def test_rows_of_a_stream_have_the_effects_of_rows_in_memory():
    random = np.random.default_rng(1)
    x = np.stack([random.integers(0, 3, 300), random.normal(size=300)], axis=1)
    data = Data(x, x[:, 0] + random.normal(size=300))
    lanes = lanes_of_arrays([x, np.asarray(data.y)], range(8), 10)
    stream = Stream(lanes, Layout(2), data, 300, Alone())
    found = effects_of_levels(stream, 0, 3, lambda x: np.ones((len(x), 1)), lambda b: b.y[:, None])
    counts, sums = (np.bincount(x[:, 0].astype(int), w) for w in (None, np.asarray(data.y)))
    mean = sums.sum() / counts.sum()
    expected = (sums + PRIOR_ROWS * mean) / (counts + PRIOR_ROWS)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-6)


def test_rare_and_missing_levels_have_the_numbers_of_all_others():
    column = Effects("c", ("a", "b"), np.array([[1.0], [2.0], [3.0]]))
    cells = pd.Series(["b", "a", "z", None], name="c")
    np.testing.assert_array_equal(column.encode(cells)[:, 0], [2, 1, 3, 3])


def test_effects_need_numbers_for_all_levels():
    with pytest.raises(ValueError, match="numbers for all levels"):
        Effects("c", ("a", "b"), np.zeros((2, 1)))


def test_a_calendar_tells_hours_and_weekdays():
    date = Date("d", "2001-01-03T06:00:00.000", 0.0, has_missing=False)
    calendar = Calendar(date, ("day", "week"))
    cells = pd.Series(pd.to_datetime(["2001-01-01 00:00", "2001-01-08 06:00"]), name="d")
    found = calendar.encode(cells)
    np.testing.assert_allclose(found[0, 1:], [0, 1, 0, 1], atol=1e-9)  # midnight of a Monday
    angle = 2 * np.pi * 0.25 / 7
    np.testing.assert_allclose(found[1, 1:], [1, 0, np.sin(angle), np.cos(angle)], atol=1e-9)
    assert len(calendar.feature_names) == found.shape[1]


def test_recipes_for_many_rows_follow_from_the_cells():
    date = Date("d", "2001-01-01", 0.0, has_missing=False)
    assert for_many_rows(date, np.arange(5.0), {}) == Calendar(date, ()).date  # midnights of a week
    assert for_many_rows(date, np.linspace(0, 5, 50), {}) == Calendar(date, ("day",))
    assert for_many_rows(date, np.arange(800.0), {}) == Calendar(date, ("week", "year"))
    many = Categories("c", ("a",), has_other=True, has_missing=False)
    found = for_many_rows(many, np.zeros(1), {"b": 30, "a": 40, "rare": 19})
    assert isinstance(found, Effects)
    assert found.levels == ("a", "b")
    few = Categories("c", ("a", "b"), has_other=False, has_missing=False)
    assert for_many_rows(few, np.zeros(1), {"a": 30, "b": 40}) is few
