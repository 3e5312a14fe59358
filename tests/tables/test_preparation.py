"""From a table to numbers, for tidy and arbitrary tables."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from gfsvi.tables import Preparation
from gfsvi.tables.reading import TableError, read_table, write_table

from .tables import DATES, ROWS, X, cycle, learned, table, with_some


def test_feature_names_are_all_different():
    frame = table(**{"c": with_some(cycle("a", "b"), None), "c = a": X**2, "c is missing": X**3})
    names = Preparation.learn(frame, "y").feature_names
    assert len(set(names)) == len(names)
    assert "c = a (2)" in names


def test_duplicate_column_names_are_refused():
    frame = pd.DataFrame(np.zeros((ROWS, 3)), columns=["y", "x", "x"])
    with pytest.raises(TableError, match="`x` more than once"):
        Preparation.learn(frame, "y")


def test_missing_columns_are_all_listed_and_others_ignored():
    preparation = learned(a=X**2, b=X**3, useless=1)
    assert preparation.inputs(
        pd.DataFrame({"b": [1.0], "q": [0], "x": [3], "a": [2]})
    ).tolist() == [[3, 2, 1]]
    with pytest.raises(TableError, match="`a`, `b`;"):
        preparation.inputs(pd.DataFrame({"x": [1.0]}))


def test_a_tidy_table_brings_no_surprise():
    frame = table(colour=cycle("a", "b"), gap=with_some(X**2, np.nan), sold=DATES)
    assert Preparation.learn(frame, "y").surprises(frame) == ()


def test_a_table_without_rows_gives_a_matrix_without_rows():
    preparation = learned(colour=cycle("a", "b"), sold=DATES)
    empty = table(colour=cycle("a", "b"), sold=DATES).iloc[:0]
    assert preparation.inputs(empty).shape == (0, len(preparation.feature_names))
    assert preparation.surprises(empty) == ()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_gives_the_same_matrix_as_the_frame(tmp_path, name):
    frame = table(
        colour=with_some(cycle("red", "blue"), None),
        flag=with_some(cycle(True, False, True), None),
        count=with_some(cycle(1.0, 2.0, 5.0), np.nan),
        sold=DATES,
    )
    preparation = Preparation.learn(frame, "y")
    write_table(frame, tmp_path / name)
    again = read_table(tmp_path / name)
    assert Preparation.learn(again, "y").columns == preparation.columns
    np.testing.assert_array_equal(preparation.inputs(again), preparation.inputs(frame))


CELLS = {
    "numbers": st.floats() | st.none(),
    "whole": st.integers(-3, 3),
    "huge": st.sampled_from([1e308, -1e308, 5e-324, 0.0, 1e99, np.inf, np.nan]),
    "integers": st.integers(-(10**30), 10**30),
    "text": st.sampled_from(["a", "b ", "", "?", "1,234", "5%", "2020-01-01", "<b>", "NaN", "é"]),
    "dates": st.dates() | st.none(),
    "times": st.datetimes() | st.none(),
    "flags": st.booleans() | st.none(),
    "mixed": st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2),
    "nested": st.lists(st.integers(), max_size=1) | st.none(),
}
NAMES = ["x", "id", "<script>alert(1)</script>", "Größe ☃", "a = b", "", "a is missing", "'; --"]


@st.composite
def frames(draw):
    rows = draw(st.integers(0, 30))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True, max_size=5))
    columns = {}
    for name in ["y", *names]:
        if columns and draw(st.integers(0, 5)) == 0:
            columns[name] = draw(st.sampled_from(list(columns.values())))
            continue
        kind = draw(st.sampled_from(list(CELLS)))
        cells = draw(st.lists(CELLS[kind], min_size=3, max_size=6))
        # A few values, drawn often, make tables that can be learned from.
        places = np.random.default_rng(draw(st.integers(0, 99))).integers(0, len(cells), rows)
        values = np.empty(rows, object)
        values[:] = [cells[place] for place in places]
        columns[name] = pd.Series(values)
        if draw(st.booleans()):
            columns[name] = columns[name].infer_objects()
    return pd.DataFrame(columns)


@hypothesis.settings(max_examples=100)
@hypothesis.given(frames(), st.sampled_from(["auto", "regression", "classification"]))
def test_any_table_gives_finite_numbers_or_a_table_error(frame, task):
    try:
        preparation = Preparation.learn(frame, "y", task)
    except TableError as error:
        assert "expected" in str(error)
        return
    rows = preparation.usable_rows(frame)
    matrix = preparation.inputs(frame[rows])
    assert matrix.shape == (rows.sum(), len(preparation.feature_names))
    assert matrix.dtype == np.float64
    assert np.isfinite(matrix).all()
    assert np.isfinite(preparation.observations(frame[rows])).all()
    assert (np.ptp(matrix, axis=0) > 0).all()
    shuffled = frame[rows][list(frame.columns)[::-1]]
    np.testing.assert_array_equal(preparation.inputs(shuffled), matrix)
    assert all(isinstance(note, str) for note in preparation.notes)
