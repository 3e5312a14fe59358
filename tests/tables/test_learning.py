"""Which recipe a column gets, and which columns are left out."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.tables import Categories, Dropped, Numeric, Preparation
from gfsvi.tables.reading import TableError

from .tables import ROWS, X, Y, column_of, cycle, learned, note_on, table, with_some


def test_thousands_of_rare_categories_are_left_out():
    frame = pd.DataFrame({"y": np.arange(20_000) % 7, "x": np.arange(20_000) % 11})
    frame["c"] = [f"c{i % 5_000}" for i in range(20_000)]
    preparation = Preparation.learn(frame, "y")
    assert isinstance(column_of(preparation, "c"), Dropped)
    assert "5000 categories" in note_on(preparation, "c")


DROPPED = {
    "free text": ([f"a text about {i}" for i in range(ROWS)], "free text"),
    "constant": ([3] * ROWS, "same value"),
    "constant text": (["same"] * ROWS, "same value"),
    "rounding": (with_some([1.0] * ROWS, np.nextafter(1, 2)), "same value"),
    "all missing": ([np.nan] * ROWS, "no values"),
    "all None": ([None] * ROWS, "no values"),
    "blank": (["  "] * ROWS, "no values"),
    "all infinite": ([np.inf] * ROWS, "no finite values"),
    "duplicate": (X, "duplicates column `x`"),
    "counter": (range(17, 17 + ROWS), "counts the rows"),
    "lists": ([[i] for i in range(ROWS)], "free text"),
}


@pytest.mark.parametrize("kind", DROPPED)
def test_useless_columns_are_left_out_and_named(kind):
    cells, reason = DROPPED[kind]
    preparation = learned(useless=cells)
    assert preparation.feature_names == ("x",)
    assert reason in note_on(preparation, "useless")


@pytest.mark.parametrize("name", ["id", "customer_id", "PassengerId", "row index", "Serial No"])
def test_whole_numbers_under_an_identifiers_name_are_left_out(name):
    frame = table(**{name: np.random.default_rng(2).permutation(1000)[:ROWS]})
    assert isinstance(column_of(Preparation.learn(frame, "y"), name), Dropped)


@pytest.mark.parametrize("name", ["humidity", "grid", "monkey", "heat index"])
def test_other_whole_numbers_stay(name):
    frame = table(**{name: np.random.default_rng(2).integers(0, 30, ROWS)})
    assert isinstance(column_of(Preparation.learn(frame, "y"), name), Numeric)


def test_consecutive_years_and_a_lone_counter_stay():
    assert isinstance(column_of(learned(year=range(1980, 1980 + ROWS)), "year"), Numeric)
    lone = Preparation.learn(pd.DataFrame({"y": Y, "x": range(ROWS)}), "y")
    assert lone.feature_names == ("x",)


def test_a_value_that_is_there_or_not_is_used():
    preparation = learned(mark=with_some([None] * ROWS, "yes", 9))
    assert preparation.feature_names == ("x", "mark = yes", "mark is missing")


def test_many_words_among_numbers_are_categories():
    cells = cycle("1", "2", "many")
    assert isinstance(column_of(learned(number=cells), "number"), Categories)


def test_codes_with_leading_zeros_are_categories():
    assert isinstance(column_of(learned(code=cycle("01", "02", "10")), "code"), Categories)


def test_a_table_with_nothing_to_predict_from_is_refused():
    with pytest.raises(TableError, match="got none: column `c` left out: it has the same value"):
        Preparation.learn(pd.DataFrame({"y": Y, "c": 1}), "y")
    with pytest.raises(TableError, match="usable column to predict from, got none; add"):
        Preparation.learn(pd.DataFrame({"y": Y}), "y")
