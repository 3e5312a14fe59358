"""Rows that are held out: random ones, or the latest of a table in time order."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import gfsvi
from gfsvi import BayesianRegressor, GFSVIClassifier, GFSVIRegressor
from gfsvi.auto import Fitted
from gfsvi.auto.holding_out import held_out_rows, order_of_rows, rows_apart, share_held_out
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.quality import Judged, PoorFitWarning, quality
from gfsvi.auto.recipe import DEFAULT
from gfsvi.auto.targets import Numbers
from gfsvi.likelihoods import Normal
from gfsvi.methods import ExactGP
from gfsvi.predictives import NormalPredictive
from gfsvi.report.formatting import number as number_of
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


def test_noise_is_never_chosen_by_the_future() -> None:
    order = TimeOrder("when", np.arange(4000.0))
    apart = rows_apart(Parameters(random_state=0), DEFAULT, (4000, 2), order)
    assert list(apart.judged) == list(range(3600, 4000))
    assert len(apart.validation) == 360 and apart.validation.max() < 3600
    small = rows_apart(Parameters(random_state=0), DEFAULT, SHAPE, ORDER)
    assert len(small.judged) == 5 and len(small.validation) == 0
    random = rows_apart(Parameters(random_state=0), DEFAULT, (4000, 2), None)
    assert not random.validates_apart and len(random.judged) == 400


def rising(num_rows: int) -> pd.DataFrame:
    """A walk whose end cannot be known from its beginning."""
    random = np.random.default_rng(1)
    level = np.cumsum(random.normal(size=num_rows)) + 20.0 * (np.arange(num_rows) > 0.95 * num_rows)
    days = pd.date_range("2020-01-01", periods=num_rows)
    return pd.DataFrame({"day": days, "y": level})


@pytest.fixture(scope="module")
def learned() -> tuple[GFSVIRegressor, pd.DataFrame]:
    frame = rising(120)
    model = GFSVIRegressor(hidden=(20,), likelihood="normal", random_state=0)
    with pytest.warns(PoorFitWarning):
        model.fit_table(frame, "y")
    return model, frame


def test_the_latest_rows_are_learned_after_they_were_predicted(learned) -> None:
    model, frame = learned
    fitted, y = model.fitted_, frame["y"].to_numpy()
    first = fitted.first_predictions
    assert list(first.rows) == list(range(108, 120))
    before = np.abs(first.predictive.mean - y[first.rows])
    after = np.abs(model.predict(frame.tail(12)) - y[first.rows])
    assert np.mean(after) < 0.3 * np.mean(before)
    (note,) = [d for d in model.diagnostics_ if d.name == "future_held_out"]
    assert "then learned them" in note.title and "--hold-out none" not in note.remedy
    assert "12 held out, then learned" in repr(fitted)


def test_warnings_are_about_the_predictions_of_the_future(learned) -> None:
    model, frame = learned
    first = model.fitted_.first_predictions
    y = frame["y"].to_numpy()
    error = np.sqrt(np.mean((first.predictive.mean - y[first.rows]) ** 2))
    (found,) = [d for d in model.diagnostics_ if d.name == "worse_than_guessing"]
    assert f"({error:.3g} against" in found.message


def test_the_page_scores_the_first_predictions_also_after_loading(learned, tmp_path) -> None:
    from gfsvi.report import write_report

    model, frame = learned
    model.save(tmp_path / "model.gfsvi")
    loaded = Fitted.load(tmp_path / "model.gfsvi")
    first, kept = model.fitted_.first_predictions, loaded.first_predictions
    assert np.array_equal(kept.rows, first.rows)
    assert np.array_equal(kept.predictive.quantile(0.9), first.predictive.quantile(0.9))
    for number, fit in enumerate((model, gfsvi.load(tmp_path / "model.gfsvi"))):
        write_report(fit, frame, "y", tmp_path / f"{number}.html")
    pages = [(tmp_path / f"{number}.html").read_text(encoding="utf-8") for number in range(2)]
    assert all("It then learned these rows as well" in page for page in pages)
    median = float(np.median(np.abs(first.predictive.mean - frame["y"].to_numpy()[first.rows])))
    assert all(f"half of the predictions are within {number_of(median)}" in p for p in pages)


@pytest.mark.parametrize("way", ["end", "random"])
def test_no_row_of_arrays_is_lost(way: str) -> None:
    """A posterior that has learned a row knows it better than one that has not."""
    random = np.random.default_rng(0)
    x = random.normal(size=(80, 1))
    x[::10] += 6.0  # far from the others, so that only the row itself can tell
    y = np.sin(x[:, 0]) + 0.05 * random.normal(size=80)
    options = {"hidden": (20,), "likelihood": "normal", "kernel": "rbf", "random_state": 0}
    model = GFSVIRegressor(held_out=way, **options).fit(x, y)
    fitted = model.fitted_
    rows = fitted.first_predictions.rows
    assert len(rows) == 8 and fitted.left_out(x[rows], y[rows]) is not None
    after = fitted.predict(x[rows]).epistemic_variance
    assert np.all(after < fitted.first_predictions.predictive.epistemic_variance)
    forgotten = fitted.forget(x[rows], y[rows]).predict(x[rows])
    assert np.all(forgotten.epistemic_variance > after)


def test_labels_of_the_end_are_learned_too(tmp_path) -> None:
    random = np.random.default_rng(0)
    x = np.arange(100.0)[:, None] / 10
    labels = np.where(x[:, 0] < 5, "a", np.where(x[:, 0] < 9, "b", "a"))
    labels[random.permutation(100)[:5]] = "b"
    model = GFSVIClassifier(held_out="end", kernel="rbf", hidden=(20,), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFitWarning)
        model.fit(x, labels)
    first = model.fitted_.first_predictions
    before = np.asarray(first.predictive.probabilities)[:, 0].mean()
    assert model.predict_proba(x[first.rows])[:, 0].mean() > before + 0.2
    model.save(tmp_path / "labels.gfsvi")
    assert gfsvi.load(tmp_path / "labels.gfsvi").fitted_.first_predictions.predictive is not None


def test_methods_without_a_closed_form_leave_the_end_out(series) -> None:
    assert series[0].fitted_.first_predictions is None


def test_labels_are_held_out_where_rows_are_not_all_measurement_points() -> None:
    given = Parameters(random_state=0)
    assert len(rows_apart(given, DEFAULT, (700, 2), None, 2).judged) == 0
    assert len(rows_apart(given, DEFAULT, (800, 2), None, 2).judged) == 80
    assert len(rows_apart(given, DEFAULT, (800, 2), None, 1).judged) == 0


def test_the_accuracy_that_is_promised_for_many_labels_is_kept() -> None:
    """No column says anything about the labels, and what is known by heart does not count."""
    random = np.random.default_rng(0)
    x, labels = random.normal(size=(900, 8)), random.integers(2, size=900)
    model = GFSVIClassifier(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFitWarning)
        model.fit(x, labels)
    first = model.fitted_.first_predictions
    accuracy = np.mean(np.asarray(first.predictive.predicted) == labels[first.rows])
    assert len(first.rows) == 90 and accuracy < 0.5 + 3 * 0.5 / np.sqrt(90)
