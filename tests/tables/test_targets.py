"""What is predicted, and targets that cannot be."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.tables import Preparation
from gfsvi.tables.reading import TableError

from .tables import DATES, ROWS, X, Y, cycle, table, with_some


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
    with pytest.raises(TableError, match="4 rows; remove those rows"):
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


def test_five_hundred_classes_are_accepted_and_one_more_is_not():
    frame = pd.DataFrame({"x": np.arange(2004) % 7, "y": [f"c{i % 501}" for i in range(2004)]})
    with pytest.raises(TableError, match="at most 500 classes.*got 501"):
        Preparation.learn(frame, "y")
    assert len(Preparation.learn(frame[frame.y != "c0"], "y").classes) == 500


def test_a_missing_target_column_is_named_with_its_neighbours():
    with pytest.raises(TableError, match="`pric`.*did you mean `price`"):
        Preparation.learn(table(price=X), "pric")
    with pytest.raises(TableError, match="`qqq`, got `y`, `x`; choose"):
        Preparation.learn(table(), "qqq")
