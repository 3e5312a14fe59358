"""`gfsvi fit --guarantee`."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.auto import Fitted
from gfsvi.cli import main
from gfsvi.serving import read_predictor

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame({"size": RANDOM.uniform(0, 9, 200), "age": RANDOM.uniform(0, 9, 200)})
FRAME["price"] = FRAME["size"] - FRAME["age"] + RANDOM.standard_t(3, size=200)
FRAME["kind"] = np.where(FRAME["price"] > 1, "dear", "cheap")


@pytest.mark.parametrize("level", ["0.8", None])
def test_predictions_have_the_guaranteed_intervals(tmp_path, monkeypatch, level):
    monkeypatch.chdir(tmp_path)
    FRAME.drop(columns="kind").to_csv("rows.csv", index=False)
    given = [
        "fit",
        "rows.csv",
        "--target",
        "price",
        "--guarantee",
        "0.7",
        "-o",
        "model.gfsvi",
        "-q",
    ]
    assert main(given) == 0
    asked = [] if level is None else ["--level", level]
    assert main(["predict", "model.gfsvi", "rows.csv", "-o", "found.csv", *asked]) == 0
    found, fitted = pd.read_csv("found.csv"), Fitted.load("model.gfsvi")
    assert fitted.level == 0.7 and fitted.conformal == "split"
    lower, upper = fitted.interval(FRAME, None if level is None else float(level))
    np.testing.assert_allclose(found["lower"], lower, rtol=0.05, atol=0.05)
    predictor = read_predictor("model.gfsvi")
    assert predictor is not None and predictor.level == 0.7
    of_numpy = predictor.interval(predictor.predict(FRAME), 0.8)
    np.testing.assert_allclose(of_numpy, fitted.interval(FRAME, 0.8), rtol=1e-8)
    assert np.all(found["upper"] > found["lower"]) and np.all(upper > lower)


def test_labels_get_a_column_of_sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.drop(columns="price").to_csv("rows.csv", index=False)
    given = ["fit", "rows.csv", "--target", "kind", "--guarantee", "0.8", "-o", "model.gfsvi", "-q"]
    assert main(given) == 0
    assert main(["predict", "model.gfsvi", "rows.csv", "-o", "found.csv"]) == 0
    found = pd.read_csv("found.csv")
    assert set(found["set"]) <= {"cheap", "dear", "cheap;dear"}
    assert np.mean([kind in s for kind, s in zip(FRAME["kind"], found["set"], strict=True)]) > 0.75


def test_more_than_the_rows_can_guarantee_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FRAME.drop(columns="kind")[:40].to_csv("rows.csv", index=False)
    given = ["fit", "rows.csv", "--target", "price", "--guarantee", "0.95", "-o", "m.gfsvi", "-q"]
    assert main(given) != 0
    assert "expects at least 19 rows to judge by; got 8" in capsys.readouterr().err
    assert not (tmp_path / "m.gfsvi").exists()
