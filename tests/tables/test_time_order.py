"""Tables whose rows are in time order."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.tables import Preparation, TimeOrder
from gfsvi.tables.time_order import time_order

DAYS = pd.date_range("2020-01-20", periods=40)
NOISE = np.random.default_rng(0).normal(size=40)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("when", DAYS),
        ("when", DAYS.strftime("%Y-%m-%d")),
        ("when", DAYS.strftime("%Y/%m/%d %H:%M")),
        ("dteday", DAYS.strftime("%d-%m-%Y")),
        ("dteday", DAYS.strftime("%m/%d/%Y")),
        ("dteday", DAYS.strftime("%d.%m.%Y")),
        ("date", DAYS.strftime("%Y%m%d").astype(int)),
        ("YEAR", np.arange(1700, 1740)),
        ("time", 1959 + np.arange(40) / 12),
        ("timestamp", 1.6e9 + 60 * np.arange(40)),
        ("when", DAYS[::-1]),
        ("when", np.repeat(DAYS[:8], 5)),
    ],
)
def test_dates_and_years_in_order_are_recognised(name: str, cells: object) -> None:
    found = time_order(pd.DataFrame({"noise": NOISE, name: cells}))
    assert found is not None and found.column == name
    assert len(found.times) == 40


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("when", DAYS[np.random.default_rng(0).permutation(40)]),
        ("when", [*DAYS[:39], None]),
        ("when", np.repeat(DAYS[:2], 20)),
        ("YearsExperience", np.sort(np.abs(NOISE)) * 10),
        ("year built", np.sort(NOISE)),
        ("age", np.arange(40)),
        ("price", np.arange(2000, 2040)),
        ("date", np.arange(40)),
        ("town", ["a", "b"] * 20),
        ("flag", np.arange(40) > 20),
    ],
)
def test_other_columns_in_order_are_not_times(name: str, cells: object) -> None:
    assert time_order(pd.DataFrame({"noise": NOISE, name: cells})) is None


def test_the_latest_rows_are_the_first_ones_if_the_newest_row_is() -> None:
    assert list(TimeOrder("when", np.arange(10.0)).latest(3)) == [7, 8, 9]
    assert list(TimeOrder("when", -np.arange(10.0)).latest(3)) == [0, 1, 2]


def test_rows_of_one_time_are_held_out_together_unless_they_are_too_many() -> None:
    assert list(TimeOrder("when", np.repeat(np.arange(5.0), 2)).latest(3)) == [6, 7, 8, 9]
    assert len(TimeOrder("when", np.repeat([0.0, 1.0], 50)).latest(10)) == 10


def test_a_target_is_no_time() -> None:
    frame = pd.DataFrame({"noise": NOISE, "year": np.arange(1960, 2000)})
    table = Preparation.learn(frame, "year").prepare(frame)
    assert table.time_order is None
    table = Preparation.learn(frame, "noise").prepare(frame)
    assert table.time_order is not None and table.time_order.column == "year"


def test_numbers_that_are_dates_become_days() -> None:
    frame = pd.DataFrame({"date": DAYS.strftime("%Y%m%d").astype(int), "y": NOISE})
    preparation = Preparation.learn(frame, "y")
    assert preparation.feature_names == ("date (days since 2020-01-20)",)
    assert np.array_equal(preparation.inputs(frame)[:, 0], np.arange(40))
