"""Each recipe: what it makes of cells, and what it says about them."""

import dataclasses
import datetime

import numpy as np
import pandas as pd
import pytest

from gfsvi.tables import Date, Preparation
from gfsvi.tables.reading import TableError

from .tables import DATES, ROWS, X, column_of, cycle, learned, note_on, table, with_some


def test_numbers_pass_through():
    preparation = learned(rooms=cycle(1, 2, 3, 3))
    assert preparation.feature_names == ("x", "rooms")
    np.testing.assert_array_equal(
        preparation.inputs(table(rooms=cycle(1, 2, 3, 3))), np.stack([X, cycle(1, 2, 3, 3)], 1)
    )


def test_categories_become_one_feature_per_level():
    preparation = learned(colour=cycle("red", "blue", "red "))
    assert preparation.feature_names == ("x", "colour = red", "colour = blue")
    matrix = preparation.inputs(table(colour=cycle("red", "blue", "red ")))
    assert matrix[:3, 1:].tolist() == [[1, 0], [0, 1], [1, 0]]


def test_missing_numbers_get_the_median_and_a_mark():
    income = with_some(np.arange(ROWS) ** 2.0, np.nan)
    preparation = learned(income=income)
    assert preparation.feature_names == ("x", "income", "income is missing")
    matrix = preparation.inputs(table(income=income))
    assert matrix[:, 2].sum() == 4
    assert set(matrix[3:7, 1]) == {column_of(preparation, "income").median}
    assert "missing values in 4 rows" in note_on(preparation, "income")


def test_missing_values_are_filled_with_a_value_of_the_column():
    flag = column_of(learned(flag=cycle(True, False, None, None)), "flag")
    assert flag.median in (0, 1)


def test_infinite_inputs_are_missing():
    preparation = learned(size=with_some(X**2, np.inf, 1))
    assert "size is missing" in preparation.feature_names
    assert "infinite or extremely large numbers in 1 row" in note_on(preparation, "size")


def test_missing_values_form_a_separate_category():
    cells = with_some(cycle("a", "b"), None)
    preparation = learned(group=cells)
    matrix = preparation.inputs(table(group=cells))
    assert preparation.feature_names[-1] == "group is missing"
    assert matrix[3].tolist()[1:] == [0, 0, 1]
    assert "4 rows; these form a separate category" in note_on(preparation, "group")


def test_only_the_most_frequent_levels_are_kept():
    cells = [f"level {i % 5}" if i < 200 else f"rare {i % 30}" for i in range(300)]
    frame = pd.DataFrame({"y": np.arange(300) % 7, "c": cells})
    preparation = Preparation.learn(frame, "y")
    assert len(preparation.feature_names) == 21
    assert preparation.feature_names[-1] == "c is other"
    assert "35 categories" in note_on(preparation, "c")
    matrix = preparation.inputs(frame)
    assert (matrix.sum(axis=1) == 1).all()
    assert matrix[:, -1].sum() > 0
    assert preparation.surprises(pd.DataFrame({"c": ["never seen"]})) == ()


@pytest.mark.parametrize("cells", [[True, False], [True, False, None], ["True", "False"]])
def test_booleans_become_zero_and_one(cells):
    preparation = learned(flag=cycle(*cells))
    matrix = preparation.inputs(table(flag=cycle(*cells)))
    assert matrix[:2, 1].tolist() == [1, 0]
    assert "read as numbers" not in note_on(preparation, "flag")


def test_text_that_is_numbers_is_parsed():
    cells = cycle("1,234", " 3.5 ", "12%", "7")
    preparation = learned(price=cells)
    assert preparation.inputs(table(price=cells))[:4, 1].tolist() == [1234, 3.5, 12, 7]
    assert "read as numbers ('1,234'" in note_on(preparation, "price")


def test_a_few_words_among_numbers_are_missing():
    cells = with_some([str(i * i) for i in range(ROWS)], "far too many")
    preparation = learned(price=cells)
    assert preparation.feature_names == ("x", "price", "price is missing")
    assert "'far too many' instead of numbers in 4 rows" in note_on(preparation, "price")
    # The word is known now, so a table full of it is fine.
    alone = preparation.inputs(pd.DataFrame({"x": [0.0], "price": ["far too many"]}))
    assert alone[0, 2] == 1


@pytest.mark.parametrize(
    "cells",
    [DATES, DATES.tz_localize("UTC"), DATES.astype(str), DATES.strftime("%Y/%m/%dT%H:%M:%S")],
    ids=["dates", "with zone", "text", "slashes"],
)
def test_dates_become_days_since_the_first(cells):
    preparation = learned(sold=cells)
    assert isinstance(column_of(preparation, "sold"), Date)
    assert preparation.feature_names == ("x", "sold (days since 2021-03-01)")
    np.testing.assert_allclose(preparation.inputs(table(sold=cells))[:, 1], 1.5 * np.arange(ROWS))
    assert "dates" in note_on(preparation, "sold")


@pytest.mark.parametrize(
    ("cells", "style", "days"),
    [
        (["31-12-2020", "01-01-2021", "05-01-2021"], "day first", [0, 1, 5]),
        (["12/31/2020", "1/1/2021", "1/5/2021"], "month first", [0, 1, 5]),
        (["01.02.2021", "02.02.2021", "01.03.2021"], "day first", [0, 1, 28]),  # by their order
        (["01/02/2021 06:00", "01/02/2021 18:00", "01/13/2021 06:00"], "month first", [0, 0.5, 11]),
    ],
)
def test_dates_in_other_styles_are_read_where_there_is_one_way_to(cells, style, days):
    frame = pd.DataFrame({"sold": np.repeat(cells, 4), "y": np.arange(12.0) ** 2})
    preparation = Preparation.learn(frame, "y")
    assert preparation.columns[0].style == style
    np.testing.assert_allclose(preparation.inputs(frame)[::4, 0], days)
    assert style in note_on(preparation, "sold")


def test_dates_that_can_be_read_in_two_ways_stay_texts():
    frame = pd.DataFrame({"sold": ["01/02/2021", "03/01/2021", "02/02/2021"] * 4})
    frame["y"] = np.arange(12.0)
    preparation = Preparation.learn(frame, "y")
    assert preparation.feature_names[0].startswith("sold = ")


def test_date_objects_and_missing_dates_are_understood():
    cells = with_some([datetime.date(2021, 1, 1 + i % 28) for i in range(ROWS)], None)
    preparation = learned(sold=cells)
    assert preparation.feature_names[-1] == "sold is missing"
    assert np.isfinite(preparation.inputs(table(sold=cells))).all()
    assert "missing values in 4 rows; filled with the median" in note_on(preparation, "sold")


def test_new_gaps_among_dates_are_filled_with_the_median_date():
    preparation = learned(sold=DATES)
    frame = pd.DataFrame({"x": [0.0], "sold": [None]})
    assert preparation.inputs(frame)[0, 1] == 1.5 * (ROWS // 2 - 1)
    (missing,) = preparation.surprises(frame)
    assert missing.endswith("none in training; filled with the median date 2021-03-29.")


def test_blank_cells_among_numbers_are_missing_and_no_words():
    preparation = learned(price=with_some([f"{i}" for i in np.arange(ROWS) ** 2], "  "))
    assert "instead of numbers" not in note_on(preparation, "price")
    assert "missing values in 4 rows" in note_on(preparation, "price")


def test_unknown_categories_are_zeros_and_reported():
    preparation = learned(colour=cycle("red", "blue"))
    frame = pd.DataFrame({"x": [1, 2, 3], "colour": ["mauve", "red", None]})
    assert preparation.inputs(frame)[:, 1:].tolist() == [[0, 0], [0, 1], [0, 0]]
    unknown, missing = preparation.surprises(frame)
    assert "`colour` has 1 row with categories not seen in training ('mauve')" in unknown
    assert "`colour` has missing values in 1 row but had none in training" in missing


def test_new_gaps_words_and_infinities_are_filled_and_reported():
    preparation = learned()
    cells = ["1"] * 10 + [None, "oops", "inf"]
    matrix = preparation.inputs(pd.DataFrame({"x": cells}))
    assert matrix.shape == (13, 1)
    assert set(matrix[10:, 0]) == {column_of(preparation, "x").median}
    words, infinite, missing = preparation.surprises(pd.DataFrame({"x": cells}))
    assert "'oops' instead of numbers in 1 row" in words
    assert "infinite" in infinite
    median = f"{column_of(preparation, 'x').median:.4g}"
    assert "missing values in 1 row but had none in training" in missing
    assert missing.endswith(f"filled with the median {median}.")


def test_a_column_of_words_where_numbers_were_is_refused():
    with pytest.raises(TableError, match="numbers in column `x`.*'left', 'right' in 2 rows"):
        learned().inputs(pd.DataFrame({"x": ["left", "right", "3"]}))
    with pytest.raises(TableError, match="dates in column `sold`"):
        learned(sold=DATES).inputs(pd.DataFrame({"x": [1.0], "sold": ["soon"]}))


@pytest.mark.parametrize("first", ["soon", "NaT", ""])
def test_a_date_that_is_none_is_refused(first):
    with pytest.raises(ValueError):
        dataclasses.replace(column_of(learned(sold=DATES), "sold"), first=first)
