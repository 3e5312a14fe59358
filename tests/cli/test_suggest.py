"""`gfsvi suggest`."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.auto import Fitted
from gfsvi.cli.bounds import parsed_bounds

SIZE = "<script>alert(1)</script>"


def test_suggested_rows_can_be_predicted_and_have_reasons(run, regression):
    words = ("--bounds", f"{SIZE}=50:150", "Städtchen 🏠=Bonn,Celle", "--batch", 3)
    status, out, _ = run("suggest", regression, *words, "-o", "next.csv")
    assert status == 0 and out.count("Largest expected improvement") == 3
    found = pd.read_csv("next.csv")
    assert found[SIZE].between(50, 150).all() and set(found["Städtchen 🏠"]) <= {"Bonn", "Celle"}
    assert found["reason"].str.contains("best so far").all()
    predictive = Fitted.load(regression).predict(found)
    np.testing.assert_allclose(found["expected"], predictive.mean, rtol=1e-4)
    np.testing.assert_allclose(found["std"], predictive.std, rtol=1e-4)


def test_candidates_are_chosen_from_a_table(run, regression, houses):
    pool = houses.assign(**{SIZE: houses[SIZE] + 1.5, "expected": "yes"})
    pool.to_csv("pool.csv", index=False)
    words = ("--candidates", "pool.csv", "--minimize", "--by", "confidence", "-o", "next.csv")
    assert run("suggest", regression, *words)[0] == 0
    found = pd.read_csv("next.csv")
    assert len(found) == 1 and found[SIZE][0] in pool[SIZE].to_numpy()
    assert found["expected"][0] == "yes" and found["suggested_expected"].dtype.kind == "f"
    means = np.asarray(Fitted.load(regression).predict(pool).mean)
    assert found["suggested_expected"][0] < np.quantile(means, 0.2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--bounds", "heat"), "expects COLUMN=RANGE"),
        (("--bounds", "sise=1:2"), "columns that the model uses"),
        (("--bounds", "sold on=first:last"), "days such as 2026-01-31"),
        (("--bounds", "Städtchen 🏠=Rom"), "categories of the training rows, Aachen"),
        (("--bounds", "Städtchen 🏠=1:2"), "as it is text; got an interval"),
        (("--bounds", "country=DE", "country=DE"), "each column once"),
        (("--by", "luck"), "expected one of improvement"),
        (("--batch", "0"), "a whole number from 1"),
        (("--candidates", "none.csv"), "no file at none.csv"),
    ],
)
def test_bad_input_is_told_in_a_sentence(run, regression, words, sentence, tmp_path):
    status, out, err = run("suggest", regression, *words, "-o", "next.csv")
    assert status == 2 and not out and sentence in err and err.count("\n") == 1
    assert not (tmp_path / "next.csv").exists()


def test_labels_are_not_optimised(run, classification):
    status, _, err = run("suggest", classification, "-o", "next.csv")
    assert status == 2 and "one column of numbers; got one of labels" in err


def test_bounds_are_intervals_lists_or_values():
    texts = ["a=1:2", "b=1:9:2", "c=x,y", "d = e=5", "f=2026-01-01:2026-02-01"]
    assert parsed_bounds(texts) == {
        "a": ("1", "2"),
        "b": ("1", "9", "2"),
        "c": ["x", "y"],
        "d = e": "5",
        "f": ("2026-01-01", "2026-02-01"),
    }
