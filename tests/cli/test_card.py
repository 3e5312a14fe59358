"""`gfsvi card`, and `gfsvi export` to ONNX."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from gfsvi.auto import Fitted
from gfsvi.report.card import card


def test_a_card_says_what_a_model_is(run, regression, houses):
    houses.to_csv("new.csv", index=False)
    assert run("card", regression, "--table", "new.csv", "-o", "card.md")[0] == 0
    text = Path("card.md").read_text()
    fitted = Fitted.load(regression)
    for words in ("# model", "price", "Städtchen 🏠", "3 categories: Aachen", "sold on", "dates"):
        assert words in text
    assert "<script>" not in text and "&lt;script&gt;" in text
    found = fitted.evaluate(houses, houses["price"].to_numpy())
    (name, *_) = (name for name in found if f"{name}_baseline" in found)
    assert f"| {found[name]:.4g} | {found[f'{name}_baseline']:.4g} |" in text
    for diagnostic in fitted.diagnostics:
        assert diagnostic.title in text
    assert "None are recorded" in card(fitted, "a|b") and "# a\\|b" in card(fitted, "a|b")


def test_a_card_of_labels_names_its_answers(run, classification):
    assert run("card", classification, "-o", "card.md")[0] == 0
    assert "p_<class>" in Path("card.md").read_text()


def test_a_card_needs_rows_with_a_target(run, regression):
    pd.DataFrame({"a": [1]}).to_csv("new.csv", index=False)
    status, _, err = run("card", regression, "--table", "new.csv", "-o", "card.md")
    assert status == 2 and err.count("\n") == 1 and not Path("card.md").exists()


@pytest.mark.skipif(importlib.util.find_spec("onnx") is not None, reason="onnx is installed")
def test_export_to_onnx_says_what_to_install(run, regression):
    status, _, err = run("export", regression, "-o", "model.onnx")
    assert status == 2 and "Run `pip install onnx`" in err and not Path("model.onnx").exists()
