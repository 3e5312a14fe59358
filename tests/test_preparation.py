import dataclasses
import datetime
import json

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest

from gfsvi.preparation import Categories, Date, Dropped, Numeric, Preparation
from gfsvi.table import TableError, read_table, write_table

ROWS = 40
Y = np.random.default_rng(0).normal(size=ROWS)
X = np.random.default_rng(1).normal(size=ROWS)


def table(**columns):
    return pd.DataFrame({"y": Y, "x": X, **columns})


def learned(**columns):
    return Preparation.learn(table(**columns), "y")


def column_of(preparation, name):
    return next(column for column in preparation.columns if column.name == name)


def note_on(preparation, name):
    return " ".join(note for note in preparation.notes if f"`{name}`" in note)


def cycle(*values):
    return [values[i % len(values)] for i in range(ROWS)]


def with_some(values, replacement, number=4):
    changed = list(values)
    changed[3 : 3 + number] = [replacement] * number
    return changed


# Columns


def test_numbers_pass_through():
    preparation = learned(rooms=cycle(1, 2, 3, 3))
    assert preparation.feature_names == ("x", "rooms")
    np.testing.assert_array_equal(
        preparation.inputs(table(rooms=cycle(1, 2, 3, 3))), np.stack([X, cycle(1, 2, 3, 3)], 1)
    )


def test_categories_become_one_column_a_level():
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
    assert "4 rows without a value" in note_on(preparation, "income")


def test_what_stands_in_for_a_missing_value_is_a_value_of_the_column():
    flag = column_of(learned(flag=cycle(True, False, None, None)), "flag")
    assert flag.median in (0, 1)


def test_infinite_inputs_are_missing():
    preparation = learned(size=with_some(X**2, np.inf, 1))
    assert "size is missing" in preparation.feature_names
    assert "1 row with infinite" in note_on(preparation, "size")


def test_missing_categories_are_a_level_of_their_own():
    cells = with_some(cycle("a", "b"), None)
    preparation = learned(group=cells)
    matrix = preparation.inputs(table(group=cells))
    assert preparation.feature_names[-1] == "group is missing"
    assert matrix[3].tolist()[1:] == [0, 0, 1]


def test_only_the_most_frequent_levels_are_kept():
    cells = [f"level {i % 5}" if i < 200 else f"rare {i % 30}" for i in range(300)]
    frame = pd.DataFrame({"y": np.arange(300) % 7, "c": cells})
    preparation = Preparation.learn(frame, "y")
    assert len(preparation.feature_names) == 21
    assert preparation.feature_names[-1] == "c is another"
    assert "35 categories" in note_on(preparation, "c")
    matrix = preparation.inputs(frame)
    assert (matrix.sum(axis=1) == 1).all()
    assert matrix[:, -1].sum() > 0
    assert preparation.surprises(pd.DataFrame({"c": ["never seen"]})) == ()


def test_thousands_of_rare_categories_are_left_out():
    frame = pd.DataFrame({"y": np.arange(20_000) % 7, "x": np.arange(20_000) % 11})
    frame["c"] = [f"c{i % 5_000}" for i in range(20_000)]
    preparation = Preparation.learn(frame, "y")
    assert isinstance(column_of(preparation, "c"), Dropped)
    assert "5000 categories" in note_on(preparation, "c")


DROPPED = {
    "free text": ([f"a text about {i}" for i in range(ROWS)], "free text"),
    "constant": ([3] * ROWS, "one value"),
    "constant text": (["same"] * ROWS, "one value"),
    "rounding": (with_some([1.0] * ROWS, np.nextafter(1, 2)), "one value"),
    "all missing": ([np.nan] * ROWS, "no values"),
    "all None": ([None] * ROWS, "no values"),
    "blank": (["  "] * ROWS, "no values"),
    "all infinite": ([np.inf] * ROWS, "no finite values"),
    "repetition": (X, "repeats column `x`"),
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


@pytest.mark.parametrize("cells", [[True, False], [True, False, None], ["True", "False"]])
def test_booleans_become_zero_and_one(cells):
    preparation = learned(flag=cycle(*cells))
    matrix = preparation.inputs(table(flag=cycle(*cells)))
    assert matrix[:2, 1].tolist() == [1, 0]
    assert "reads as numbers" not in note_on(preparation, "flag")


def test_text_that_is_numbers_is_parsed():
    cells = cycle("1,234", " 3.5 ", "12%", "7")
    preparation = learned(price=cells)
    assert preparation.inputs(table(price=cells))[:4, 1].tolist() == [1234, 3.5, 12, 7]
    assert "reads as numbers ('1,234'" in note_on(preparation, "price")


def test_a_few_words_among_numbers_are_missing():
    cells = with_some([str(i * i) for i in range(ROWS)], "far too many")
    preparation = learned(price=cells)
    assert preparation.feature_names == ("x", "price", "price is missing")
    assert "'far too many' in place of numbers in 4 rows" in note_on(preparation, "price")
    # The word is known now: a table full of it is no error.
    alone = preparation.inputs(pd.DataFrame({"x": [0.0], "price": ["far too many"]}))
    assert alone[0, 2] == 1


def test_many_words_among_numbers_are_categories():
    cells = cycle("1", "2", "many")
    assert isinstance(column_of(learned(number=cells), "number"), Categories)


def test_codes_with_leading_zeros_are_categories():
    assert isinstance(column_of(learned(code=cycle("01", "02", "10")), "code"), Categories)


DATES = pd.date_range("2021-03-01", periods=ROWS, freq="36h")


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


def test_date_objects_and_missing_dates_are_understood():
    cells = with_some([datetime.date(2021, 1, 1 + i % 28) for i in range(ROWS)], None)
    preparation = learned(sold=cells)
    assert preparation.feature_names[-1] == "sold is missing"
    assert np.isfinite(preparation.inputs(table(sold=cells))).all()


def test_feature_names_are_all_different():
    frame = table(**{"c": with_some(cycle("a", "b"), None), "c = a": X**2, "c is missing": X**3})
    names = Preparation.learn(frame, "y").feature_names
    assert len(set(names)) == len(names)
    assert "c = a (2)" in names


def test_a_table_with_nothing_to_predict_from_is_refused():
    with pytest.raises(TableError, match="none of use.*`c` left out: it has one value"):
        Preparation.learn(pd.DataFrame({"y": Y, "c": 1}), "y")
    with pytest.raises(TableError, match="none of use"):
        Preparation.learn(pd.DataFrame({"y": Y}), "y")


# Targets


@pytest.mark.parametrize(
    ("target", "task", "classes"),
    [
        (Y, "regression", None),
        (cycle(3, 4, 5, 6, 7, 8), "regression", None),
        (cycle(0, 1), "classification", (0, 1)),
        (cycle(1.0, 0.0), "classification", (0, 1)),
        (cycle("b", "a", "c"), "classification", ("a", "b", "c")),
        (cycle(True, False), "classification", (False, True)),
        (cycle(True, False, None), "classification", (False, True)),
        (pd.Categorical(cycle(3, 1, 2)), "classification", (1, 2, 3)),
        ([f"{1000 + i:,}" for i in range(ROWS)], "regression", None),
    ],
)
def test_the_task_follows_from_the_target(target, task, classes):
    preparation = Preparation.learn(pd.DataFrame({"x": X, "y": target}), "y")
    assert (preparation.task, preparation.classes) == (task, classes)
    assert any(task in note for note in preparation.notes)
    # 1, 1.0 and True are equal, but not the same label.
    assert list(map(type, preparation.classes or ())) == list(map(type, classes or ()))


def test_the_task_can_be_chosen():
    frame = pd.DataFrame({"x": X, "y": cycle(3, 4, 5)})
    preparation = Preparation.learn(frame, "y", "classification")
    assert preparation.classes == (3, 4, 5)
    assert preparation.observations(frame)[:4].tolist() == [0, 1, 2, 0]
    frame = pd.DataFrame({"x": X, "y": cycle(False, True)})
    preparation = Preparation.learn(frame, "y", "regression")
    assert preparation.observations(frame)[:2].tolist() == [0, 1]
    with pytest.raises(TableError, match="auto, regression or classification"):
        Preparation.learn(frame, "y", "clustering")


def test_classes_are_recognised_however_they_are_stored():
    preparation = Preparation.learn(pd.DataFrame({"x": X, "y": cycle("1", "2", "a")}), "y")
    assert preparation.observations(pd.DataFrame({"y": [2, 1]})).tolist() == [1, 0]
    assert preparation.observations(pd.DataFrame({"y": [2.0, 1.0]})).tolist() == [1, 0]


def test_a_class_unknown_from_training_is_refused():
    preparation = Preparation.learn(pd.DataFrame({"x": X, "y": cycle("a", "b")}), "y")
    with pytest.raises(TableError, match="'c' in 1 row"):
        preparation.observations(pd.DataFrame({"y": ["a", "c"]}))


def test_rows_without_a_target_are_left_out():
    frame = pd.DataFrame({"x": X, "y": with_some(Y, np.nan)})
    preparation = Preparation.learn(frame, "y")
    rows = preparation.usable_rows(frame)
    assert rows.sum() == ROWS - 4
    assert any("4 rows without a value of `y` left out" in note for note in preparation.notes)
    np.testing.assert_array_equal(preparation.observations(frame[rows]), frame["y"][rows])
    with pytest.raises(TableError, match="4 rows; leave those rows out"):
        preparation.observations(frame)


def test_several_targets_are_a_matrix():
    preparation = Preparation.learn(table(z=Y**2), ["y", "z"])
    assert preparation.feature_names == ("x",)
    np.testing.assert_array_equal(
        preparation.observations(table(z=Y**2)), np.stack([Y, Y**2], axis=1)
    )
    with pytest.raises(TableError, match="one target for classification"):
        Preparation.learn(table(z=cycle(0, 1)), ["y", "z"], "classification")


BAD_TARGETS = {
    "constant": ([2.0] * ROWS, "auto", "to vary, got 2 in every row"),
    "constant text": (["a"] * ROWS, "auto", "to vary, got a in every row"),
    "infinite": (with_some(Y, -np.inf, 2), "auto", "infinite ones in 2 rows"),
    "missing": ([np.nan] * ROWS, "auto", "got none in 40 rows"),
    "missing text": ([None] * ROWS, "auto", "got none in 40 rows"),
    "few": (with_some([np.nan] * ROWS, 1.0, 7), "auto", "at least 10 rows.*got 7"),
    "class per row": ([f"n{i}" for i in range(ROWS)], "auto", "40 in 40 rows; is it an ident"),
    "number per row": (Y, "classification", "use `--task regression`"),
    "words": (cycle("a", "b"), "regression", "got 'a', 'b'; use `--task classification`"),
    "dates": (DATES, "auto", "number of days"),
    "text dates": (DATES.astype(str), "auto", "number of days"),
}


@pytest.mark.parametrize("kind", BAD_TARGETS)
def test_a_target_that_cannot_be_learned_is_refused(kind):
    target, task, message = BAD_TARGETS[kind]
    with pytest.raises(TableError, match=message):
        Preparation.learn(pd.DataFrame({"x": X, "y": target}), "y", task)


def test_a_hundred_and_one_classes_are_too_many():
    frame = pd.DataFrame({"x": np.arange(404) % 7, "y": [f"c{i % 101}" for i in range(404)]})
    with pytest.raises(TableError, match="at most 100 classes.*got 101"):
        Preparation.learn(frame, "y")


def test_a_missing_target_column_is_named_with_its_neighbours():
    with pytest.raises(TableError, match="`pric`.*did you mean `price`"):
        Preparation.learn(table(price=X), "pric")
    with pytest.raises(TableError, match="`qqq`, got `y`, `x`; choose"):
        Preparation.learn(table(), "qqq")


def test_duplicate_column_names_are_refused():
    frame = pd.DataFrame(np.zeros((ROWS, 3)), columns=["y", "x", "x"])
    with pytest.raises(TableError, match="`x` more than once"):
        Preparation.learn(frame, "y")


# Prediction


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


def test_unknown_categories_are_zeros_and_reported():
    preparation = learned(colour=cycle("red", "blue"))
    frame = pd.DataFrame({"x": [1, 2, 3], "colour": ["mauve", "red", None]})
    assert preparation.inputs(frame)[:, 1:].tolist() == [[0, 0], [0, 1], [0, 0]]
    unknown, missing = preparation.surprises(frame)
    assert "`colour` has 1 row with categories not seen in training ('mauve')" in unknown
    assert "`colour` has 1 row without a value" in missing


def test_new_gaps_words_and_infinities_are_filled_and_reported():
    preparation = learned()
    cells = ["1"] * 10 + [None, "oops", "inf"]
    matrix = preparation.inputs(pd.DataFrame({"x": cells}))
    assert matrix.shape == (13, 1)
    assert set(matrix[10:, 0]) == {column_of(preparation, "x").median}
    words, infinite, missing = preparation.surprises(pd.DataFrame({"x": cells}))
    assert "'oops' in place of numbers in 1 row" in words
    assert "infinite" in infinite
    assert "without a value" in missing


def test_a_column_of_words_where_numbers_were_is_refused():
    with pytest.raises(TableError, match="numbers in column `x`.*'left', 'right' in 2 rows"):
        learned().inputs(pd.DataFrame({"x": ["left", "right", "3"]}))
    with pytest.raises(TableError, match="dates in column `sold`"):
        learned(sold=DATES).inputs(pd.DataFrame({"x": [1.0], "sold": ["soon"]}))


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


# Records


def example():
    frame = pd.DataFrame({"y": cycle("a", "b"), "x": with_some(X, np.nan), "sold": DATES})
    return Preparation.learn(frame.assign(colour=cycle("r", "g"), useless=1), "y")


def test_a_record_restores_an_equal_preparation():
    preparation = example()
    assert Preparation.from_json(json.loads(json.dumps(preparation.to_json()))) == preparation


@pytest.mark.parametrize(
    "change",
    [
        {"task": "clustering"},
        {"task": "regression"},
        {"target": "y"},
        {"target": []},
        {"classes": None},
        {"classes": ["a", "a"]},
        {"classes": [["a"], ["b"]]},
        {"columns": {}},
        {"columns": []},
        {"columns": [1]},
        {"columns": [{"kind": "os.system", "name": "x"}]},
        {"columns": [{"kind": ["numeric"], "name": "x"}]},
        {"columns": [{"kind": "numeric", "name": "x"}]},
        {"notes": [1]},
        {"unknown": 1},
    ],
)
def test_a_foreign_record_is_refused(change):
    with pytest.raises(ValueError, match="expect"):
        Preparation.from_json({**example().to_json(), **change})
    with pytest.raises(ValueError, match="expects"):
        Preparation.from_json(change)


@pytest.mark.parametrize(
    ("field", "value"),
    [("median", "1"), ("median", True), ("median", float("nan")), ("name", 3), ("has_missing", 1)],
)
def test_a_column_of_the_wrong_type_is_refused(field, value):
    record = example().to_json()
    record["columns"][0][field] = value
    with pytest.raises(ValueError, match="expects"):
        Preparation.from_json(record)


@pytest.mark.parametrize("first", ["soon", "NaT", ""])
def test_a_date_that_is_none_is_refused(first):
    with pytest.raises(ValueError):
        dataclasses.replace(column_of(example(), "sold"), first=first)


# Anything

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
    again = Preparation.from_json(json.loads(json.dumps(preparation.to_json())))
    assert again == preparation
    np.testing.assert_array_equal(again.inputs(shuffled), matrix)
    assert all(isinstance(note, str) for note in preparation.notes)
