"""What cells say, however they are stored."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.tables.cells import read_dates, read_numbers, read_texts


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234", 1234), (" 3.5 ", 3.5), ("12%", 12), ("12 %", 12), ("-.5", -0.5), ("1e3", 1000),
        ("1,234,567.5", 1234567.5), ("True", 1), ("+7", 7),
    ],
)  # fmt: skip
def test_text_that_is_a_number_is_read_as_one(text, number):
    assert read_numbers(pd.Series([text, "x"])).values[0] == number


@pytest.mark.parametrize("text", ["1,23", "1_000", "0x10", "1e", "--1", "one", "1 2", "%"])
def test_text_that_is_no_number_is_a_word(text):
    numbers = read_numbers(pd.Series([text]))
    assert numbers.words.tolist() == [True]
    assert np.isnan(numbers.values[0])


def test_missing_words_and_infinities_are_no_numbers_and_no_words():
    cells = pd.Series(["?", None, "N/A", " ", "gone", "inf", "-Infinity", "1e200"])
    numbers = read_numbers(cells, ["GONE"])
    assert not numbers.words.any()
    assert np.isnan(numbers.values).all()
    assert numbers.infinite.tolist() == [False] * 5 + [True] * 3


def test_equal_values_have_equal_texts_however_they_are_stored():
    stored = [
        pd.Series([2, 3, 2]),
        pd.Series([2.0, 3.0, 2.0]),
        pd.Series(["2", " 3", "2 "]),
        pd.Series([2, 3, 2], dtype="category"),
        pd.Series([2, "3", 2.0], dtype=object),
    ]
    for cells in stored:
        codes, texts = read_texts(cells)
        assert [texts[code] for code in codes] == ["2", "3", "2"]


def test_dates_are_read_with_and_without_time_and_zone():
    cells = ["2020-01-02", "2020/01/02", "2020-01-02T06:00:00", "2020-01-02 06:00:00+02:00"]
    times, words = read_dates(pd.Series([*cells, "2020-13-01", None]))
    hours = (times - np.datetime64("2020-01-02")) / np.timedelta64(1, "h")
    assert hours[:4].tolist() == [0, 0, 6, 4]
    assert np.isnat(times[4:]).all()
    assert words.tolist() == [False] * 4 + [True, False]
