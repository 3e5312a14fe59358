"""Identifiers beside predictions, digits that mean something, and decisions between two classes."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as known

from gfsvi import metrics
from gfsvi.interchange.digits import beside, shares

from .conftest import fitted
from .test_bad_tables import refused


@pytest.fixture
def rows(houses) -> pd.DataFrame:
    """Houses with identifiers that a number would spoil."""
    named = houses.assign(parcel=[f"{number:05d}" for number in range(len(houses))])
    named.assign(note=["NA", "1.50", ""] * 20).to_csv("rows.csv", index=False)
    return named


def test_identifiers_and_other_columns_are_copied_as_they_are_written(run, regression, rows):
    words = ("predict", regression, "rows.csv", "--output", "p.csv", "--id", "parcel")
    status, out, error = run(*words, "--keep", "note", "price")
    assert (status, out, error) == (0, "predictions: p.csv\n", "")
    written = pd.read_csv("p.csv", dtype=str, keep_default_na=False)
    assert list(written)[:4] == ["parcel", "note", "price", "mean"]
    assert list(written["parcel"]) == list(rows["parcel"])
    assert list(written["note"])[:3] == ["NA", "1.50", ""]
    np.testing.assert_array_equal(written["price"].astype(float), rows["price"])


def test_an_identifier_that_is_not_unique_is_pointed_out(run, regression, rows):
    words = ("predict", regression, "rows.csv", "--output", "p.csv", "--id", "country")
    assert run(*words)[2] == "column `country` is the same in 60 rows.\n"


@pytest.mark.parametrize(
    ("option", "name", "about"),
    [
        (
            "--id",
            "Parcell",
            "--id expects a column of the table; got `Parcell`. Did you mean `parc",
        ),
        ("--keep", "zzzz", "--keep expects a column of the table; got `zzzz`. The columns are `"),
    ],
)
def test_a_column_that_is_not_there_is_refused(run, regression, rows, option, name, about):
    words = ("predict", regression, "rows.csv", "--output", "p.csv", option, name)
    refused(run(*words), about=about)
    assert not Path("p.csv").exists()


def test_a_kept_column_may_not_hide_a_prediction(run, regression, rows):
    rows.assign(mean=1).to_csv("rows.csv", index=False)
    words = ("predict", regression, "rows.csv", "--output", "p.csv", "--keep", "mean")
    refused(run(*words), about="got `mean`. Rename the column")


def test_predictions_have_the_digits_that_their_uncertainty_supports(run, regression, rows):
    run("predict", regression, "rows.csv", "--output", "p.csv")
    for line in Path("p.csv").read_text().splitlines()[1:]:
        assert all(len(cell.replace(".", "").lstrip("-0")) <= 9 for cell in line.split(","))


def test_digits_follow_the_standard_deviation():
    values, stds = np.array([123.456789012, 123456789.0, 1.0]), np.array([0.0123, 4567891.0, 0.0])
    assert beside(values, stds).tolist() == [123.4567890, 123456790.0, 1.0]
    assert abs(beside(np.array([1e300]), np.array([1e-200])) - 1e300) < 1e285


def test_rounded_probabilities_sum_to_one():
    probabilities = np.random.default_rng(0).dirichlet([0.3] * 7, size=200)
    written = shares(probabilities)
    np.testing.assert_allclose(written.sum(axis=1), 1, rtol=1e-12)
    assert np.max(np.abs(written - probabilities)) < 1e-5


@pytest.fixture(scope="session")
def two_classes(houses, for_all_workers, cache) -> Path:
    """A model of dear houses and others."""
    table = houses.drop(columns="kind").assign(price=np.where(houses["price"] > 300, "yes", "no"))
    return fitted(table, for_all_workers / "two", cache, "price")


def test_a_threshold_decides_between_two_classes(run, two_classes):
    words = ("predict", two_classes, two_classes.with_name("houses.csv"), "--output", "p.csv")
    for options, column, threshold in [
        (("--threshold", "0.9"), "p_yes", 0.9),
        (("--threshold", "0.8", "--positive", "no"), "p_no", 0.8),
    ]:
        assert run(*words, *options)[0] == 0
        table = pd.read_csv("p.csv")
        label = column.removeprefix("p_")
        expected = table[column] >= threshold
        assert ((table["predicted"] == label) == expected).all() and expected.any()


def test_scores_of_two_classes_are_those_of_scikit_learn(run, two_classes):
    path = two_classes.with_name("houses.csv")
    words = ("evaluate", two_classes, path, "--threshold", "0.7", "--json")
    scores = json.loads(run(*words)[1])
    run("predict", two_classes, path, "--output", "p.csv", "--threshold", "0.7")
    truth, table = pd.read_csv(path)["price"] == "yes", pd.read_csv("p.csv")
    predicted = table["predicted"] == "yes"
    assert scores["auc"] == pytest.approx(known.roc_auc_score(truth, table["p_yes"]))
    assert scores["precision"] == pytest.approx(known.precision_score(truth, predicted))
    assert scores["recall"] == pytest.approx(known.recall_score(truth, predicted))
    assert scores["auc_baseline"] == 0.5
    assert scores["accuracy"] == pytest.approx(np.mean(truth == predicted))


def test_a_threshold_is_for_two_classes(run, classification, regression, table):
    words = ("evaluate", "--threshold", "0.5")
    refused(run(*words, classification, table), about="expects two classes; got 3")
    refused(run(*words, regression, table), about="expect a model of two classes; got one of num")


def test_the_positive_class_is_one_of_the_two(run, two_classes):
    words = ("evaluate", two_classes, two_classes.with_name("houses.csv"), "--positive", "maybe")
    refused(run(*words), about="expected to be 'no' or 'yes'; got 'maybe'")


def test_people_see_the_baseline_beside_the_scores(run, regression, table, houses):
    out = run("evaluate", regression, table)[1]
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["model", "baseline"]
    mse = next(words for words in lines if words[:1] == ["mse"] and len(words) == 3)
    assert float(mse[2]) == pytest.approx(np.var(houses["price"]), rel=1e-3)
    assert "always predicting the mean and spread of these targets" in out


def test_metrics_of_several_classes_are_those_of_scikit_learn():
    random = np.random.default_rng(1)
    probabilities, y = random.dirichlet(np.ones(4), size=100).round(2), random.integers(4, size=100)
    predicted = probabilities.argmax(axis=1)
    areas = [known.roc_auc_score(y == k, probabilities[:, k]) for k in range(4)]
    assert metrics.auc(probabilities, y) == pytest.approx(np.mean(areas))
    for ours, theirs in (
        (metrics.precision, known.precision_score),
        (metrics.recall, known.recall_score),
    ):
        assert ours(predicted, y) == pytest.approx(theirs(y, predicted, average="macro"))
