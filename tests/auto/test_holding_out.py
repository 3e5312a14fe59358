"""Rows that are held out: random ones, or the latest of a table in time order."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gfsvi import BayesianRegressor, GFSVIRegressor
from gfsvi.auto.holding_out import held_out_rows, order_of_rows, share_held_out
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.quality import Judged, quality
from gfsvi.auto.recipe import DEFAULT
from gfsvi.auto.targets import Numbers
from gfsvi.likelihoods import Normal
from gfsvi.methods import ExactGP
from gfsvi.predictives import NormalPredictive
from gfsvi.tables import TimeOrder

ORDER = TimeOrder("when", np.arange(50.0))
SHAPE = (50, 2)


def chosen(order: TimeOrder | None, **parameters: object) -> np.ndarray:
    given = Parameters(**parameters)  # pyright: ignore[reportArgumentType]
    order = order_of_rows(given, order, 50)
    return held_out_rows(50, share_held_out(given, DEFAULT, SHAPE, order), 0, order)


def test_a_table_in_time_order_holds_out_its_end() -> None:
    assert list(chosen(ORDER)) == [45, 46, 47, 48, 49]
    assert list(chosen(ORDER, validation_fraction=0.2)) == list(range(40, 50))


def test_the_closed_form_holds_out_no_rows_of_other_tables() -> None:
    assert len(chosen(None)) == 0


def test_the_user_decides_which_rows_are_held_out() -> None:
    assert len(chosen(ORDER, held_out="none")) == 0
    assert list(chosen(None, held_out="end")) == [45, 46, 47, 48, 49]
    random = chosen(ORDER, held_out="random")
    assert len(random) == 5 and list(random) != [45, 46, 47, 48, 49]


def test_unknown_ways_to_hold_out_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="held_out expects 'auto', 'end', 'random', 'none'"):
        GFSVIRegressor(held_out="last").fit(np.eye(12), np.arange(12.0))  # pyright: ignore[reportArgumentType]


@pytest.fixture(scope="module")
def series() -> tuple[BayesianRegressor, pd.DataFrame]:
    days = pd.date_range("2020-01-01", periods=120)
    noise = 0.3 * np.random.default_rng(0).normal(size=120)
    frame = pd.DataFrame({"day": days, "y": np.sin(np.arange(120.0) / 20) + noise})
    model = BayesianRegressor("exact_gp", kernel="rbf", likelihood="normal", random_state=0)
    return model.fit_table(frame, "y"), frame


def test_a_fit_says_that_it_was_judged_on_the_future(series) -> None:
    model, _ = series
    assert list(model.fitted_.validation_rows) == list(range(108, 120))
    (note,) = [d for d in model.diagnostics_ if d.name == "future_held_out"]
    assert note.severity == "note" and "`day`" in note.message and "latest 12" in note.message
    assert "--hold-out none" in note.remedy


def test_the_page_says_that_the_future_was_held_out(series, tmp_path) -> None:
    from gfsvi.report import write_report

    model, frame = series
    write_report(model, frame, "y", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "On the 12 latest rows (held out), half of the predictions" in page
    assert "how well the past predicts the future" in page


def test_rows_of_weight_zero_do_not_shift_the_end() -> None:
    days = pd.date_range("2020-01-01", periods=60)
    frame = pd.DataFrame({"day": days, "y": np.sin(np.arange(60.0))})
    model = BayesianRegressor("exact_gp", kernel="rbf", likelihood="normal", random_state=0)
    weights = np.where(np.arange(60) % 2, 1.0, 0.0)
    model.fit_table(frame, "y", sample_weight=weights)
    assert list(model.fitted_.validation_rows) == [55, 57, 59]


def test_a_warning_about_the_future_says_that_it_may_differ() -> None:
    y, zeros, ones = np.random.default_rng(0).normal(size=100), np.zeros(100), np.ones(100)
    narrow = NormalPredictive(zeros, zeros, 0.01 * ones)
    posterior = SimpleNamespace(likelihood=Normal())
    fitted = SimpleNamespace(target=Numbers(0.0, 1.0), posterior=posterior, preparation=None)
    judged = Judged(narrow, y, ones, y, ones, True, ExactGP, is_future=True)
    *_, found = quality(judged, fitted)  # pyright: ignore[reportArgumentType]
    assert found.message.endswith("rows that are later than the training rows.")
    assert found.remedy.startswith("The future may differ from the past")
    assert "`--likelihood warped_normal`" in found.remedy
