"""What other people's scripts rely on: columns, keys and where things are printed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .conftest import SCRIPT

NUMBER_COLUMNS = ["mean", "std", "lower", "upper", "epistemic_std", "aleatoric_std", "novelty"]
LABEL_COLUMNS = ["predicted", "p_cheap", "p_dear", "p_fair", "entropy", "mutual_information"]
NUMBER_SCORES = ["log_predictive_density", "expected_log_likelihood", "mse", "coverage", "crps"]
LABEL_SCORES = ["log_predictive_density", "expected_log_likelihood", "accuracy", "ece"]
LABEL_SCORES += ["auc", "precision", "recall"]


@pytest.fixture
def predicted(run):
    """Predictions for a frame through files, and what was said about them."""

    def predicted(model, frame, *options, suffix="csv"):
        path, output = Path(f"rows.{suffix}"), Path(f"predictions.{suffix}")
        write = frame.to_parquet if suffix == "parquet" else frame.to_csv
        write(path, index=False)
        status, out, error = run("predict", model, path, "--output", output, *options)
        assert status == 0, error
        assert out == f"predictions: {output}\n"
        table = pd.read_parquet(output) if suffix == "parquet" else pd.read_csv(output)
        return table, error

    return predicted


def test_predicted_numbers_have_the_documented_columns(predicted, regression, houses):
    table, said = predicted(regression, houses)
    assert list(table) == NUMBER_COLUMNS
    assert len(table) == len(houses)
    assert np.all(np.isfinite(table))
    assert np.all(table["lower"] < table["mean"]) and np.all(table["mean"] < table["upper"])
    assert table["novelty"].between(0, 1).all()
    assert said == ""


def test_predicted_labels_have_the_documented_columns(predicted, classification, houses):
    table, said = predicted(classification, houses)
    assert list(table) == [*LABEL_COLUMNS, "novelty"]
    assert set(table["predicted"]) <= {"cheap", "dear", "fair"}
    np.testing.assert_allclose(table[["p_cheap", "p_dear", "p_fair"]].sum(axis=1), 1)
    assert np.all(np.isfinite(table.drop(columns="predicted")))
    assert said == ""


def test_parquet_and_csv_hold_the_same(predicted, regression, houses):
    csv, _ = predicted(regression, houses)
    parquet, _ = predicted(regression, houses, suffix="parquet")
    pd.testing.assert_frame_equal(csv, parquet, check_exact=True)


def test_order_and_number_of_other_columns_do_not_matter(predicted, regression, houses):
    as_it_was, _ = predicted(regression, houses)
    turned = houses[houses.columns[::-1]].drop(columns=["price", "country"]).assign(more="!")
    pd.testing.assert_frame_equal(predicted(regression, turned)[0], as_it_was, check_exact=True)


def test_a_higher_level_is_a_wider_interval(predicted, regression, houses):
    usual, _ = predicted(regression, houses)
    same, _ = predicted(regression, houses, "--level", "0.95")
    narrow, _ = predicted(regression, houses, "--level", "0.5")
    pd.testing.assert_frame_equal(usual, same, check_exact=True)
    assert np.all(narrow["lower"] > usual["lower"]) and np.all(narrow["upper"] < usual["upper"])
    pd.testing.assert_series_equal(narrow["std"], usual["std"], check_exact=True)


def test_unknown_categories_are_pointed_out(predicted, regression, houses):
    rows = houses.assign(**{"Städtchen 🏠": "Dorsten"})
    table, said = predicted(regression, rows)
    assert "column `Städtchen 🏠` has 60 rows with categories not seen in training" in said
    assert np.all(np.isfinite(table))


def test_gaps_where_there_were_none_are_pointed_out(predicted, regression, houses):
    table, said = predicted(regression, houses.assign(**{SCRIPT: np.nan}))
    assert f"column `{SCRIPT}` has missing values in 60 rows but had none in training" in said
    assert np.all(np.isfinite(table))


def test_one_row_is_enough(predicted, regression, houses):
    alone, _ = predicted(regression, houses[:1])
    together, _ = predicted(regression, houses)
    np.testing.assert_allclose(alone, together[:1], rtol=1e-6)


def test_scores_of_numbers_have_the_documented_keys(run, regression, table):
    status, out, error = run("evaluate", regression, table, "--json")
    assert (status, error, out.count("\n")) == (0, "", 1)
    scores = json.loads(out)
    both = [*NUMBER_SCORES, *(f"{name}_standardized" for name in NUMBER_SCORES)]
    assert list(scores) == ["num_rows", *both, *(f"{name}_baseline" for name in NUMBER_SCORES)]
    assert all(np.isfinite(list(scores.values())))
    assert scores["num_rows"] == 60


def test_scores_change_with_the_scale_as_densities_do(run, regression, table, houses):
    scores = json.loads(run("evaluate", regression, table, "--json")[1])
    spread = np.std(houses["price"])
    assert scores["mse"] == pytest.approx(scores["mse_standardized"] * spread**2)
    assert scores["crps"] == pytest.approx(scores["crps_standardized"] * spread)
    assert scores["coverage"] == scores["coverage_standardized"]
    density = scores["log_predictive_density_standardized"] - np.log(spread)
    assert scores["log_predictive_density"] == pytest.approx(density)


def test_scores_of_labels_have_the_documented_keys(run, classification, table):
    status, out, error = run("evaluate", classification, table, "--json")
    assert (status, error) == (0, "")
    guessed = [f"{name}_baseline" for name in LABEL_SCORES]
    assert list(json.loads(out)) == ["num_rows", *LABEL_SCORES, *guessed]


def test_scores_are_for_people_unless_asked_otherwise(run, regression, table):
    status, out, _ = run("evaluate", regression, table)
    assert status == 0
    assert "log predictive density  " in out
    assert "{" not in out


def test_rows_without_a_target_are_not_scored(run, regression, houses):
    houses.assign(price=houses["price"].where(houses.index < 20)).to_csv("t.csv", index=False)
    assert json.loads(run("evaluate", regression, "t.csv", "--json")[1])["num_rows"] == 20


def test_names_of_the_users_file_stay_text_in_the_page(regression):
    page = regression.with_name("page.html").read_text()
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_fit_leaves_the_model_and_the_page_alone(regression):
    names = {path.name for path in regression.parent.iterdir()}
    assert names == {"houses.csv", "model.gfsvi", "page.html"}
