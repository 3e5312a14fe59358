"""`gfsvi fit --weight COLUMN`: how much each row counts."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .test_bad_tables import GOOD, csv, fit, refused

WEIGHTS = 1.0 + np.arange(len(GOOD)) % 3


def test_a_column_of_weights_weighs_the_rows_and_is_no_feature(problem_of):
    frame = GOOD.assign(importance=WEIGHTS, y=GOOD["y"].where(GOOD.index != 4))
    Path("table.csv").write_bytes(csv(frame))
    problem = problem_of(*fit("table.csv", "--weight", "importance"))
    assert problem.feature_names == ("a", "b")
    np.testing.assert_array_equal(problem.rows.weights, np.delete(WEIGHTS, 4))
    plain = problem_of(*fit("table.csv"))
    assert plain.rows.weights is None and plain.feature_names == ("a", "b", "importance")


def test_rows_of_weight_zero_are_left_out(problem_of):
    Path("table.csv").write_bytes(csv(GOOD.assign(w=np.where(GOOD.index < 10, 0, 2))))
    assert len(problem_of(*fit("table.csv", "--weight", "w")).rows) == len(GOOD) - 10


@pytest.mark.parametrize(
    ("column", "about"),
    [
        (-WEIGHTS, "expected weights of at least 0 in column `w`, got something else in 30 rows"),
        (["heavy"] * 30, "got something else in 30 rows; correct or remove these rows"),
        ([None, *WEIGHTS[1:]], "got something else in 1 row"),
        ([np.inf, *WEIGHTS[1:]], "weight"),
        (np.zeros(30), "expected at least two rows with a positive weight; got 0"),
    ],
    ids=["negative", "words", "missing", "infinite", "all zero"],
)
def test_weights_that_make_no_sense_get_one_sentence(run, column, about):
    Path("table.csv").write_bytes(csv(GOOD.assign(w=column)))
    refused(run(*fit("table.csv", "--weight", "w", "--quiet")), about=about)
    assert os.listdir() == ["table.csv"]


@pytest.mark.parametrize(
    ("column", "about"),
    [
        ("v", "expected a column `v` with weights, got none of that name. The columns are `a`, "),
        ("y", "--weight expects another column than the target; got 'y' for both"),
    ],
)
def test_a_column_that_cannot_be_weights_is_named(run, column, about):
    Path("table.csv").write_bytes(csv(GOOD.abs()))
    refused(run(*fit("table.csv", "--weight", column)), about=about)


@pytest.mark.slow
def test_predictions_lean_towards_rows_that_weigh_more(run):
    side = np.tile([-1.0, 1.0], 30)
    noise = 0.01 * np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": np.repeat(np.arange(30), 2), "y": side + noise})
    Path("table.csv").write_bytes(csv(frame.assign(w=np.where(side > 0, 9, 1))))
    options = ("--weight", "w", "--method", "exact_gp", "--kernel", "rbf", "--quiet")
    assert run(*fit("table.csv", *options))[0] == 0
    assert run("predict", "model.gfsvi", "table.csv", "--output", "predictions.csv")[0] == 0
    # The mean of the rows is 0, and 0.8 with their weights.
    assert pd.read_csv("predictions.csv")["mean"].mean() == pytest.approx(0.8, abs=0.1)
