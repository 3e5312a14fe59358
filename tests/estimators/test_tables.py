import numpy as np
import pandas as pd
import pyarrow
import pytest

from gfsvi import GFSVIRegressor, load
from gfsvi.kernels import RBF, Periodic
from gfsvi.tables.reading import TableError


def test_the_order_of_columns_and_further_ones_do_not_matter(regressor, houses):
    shuffled = houses[["kind", "age", "town", "size"]]
    np.testing.assert_array_equal(regressor.predict(shuffled), regressor.predict(houses))


def test_text_counts(regressor, houses):
    in_bonn, in_celle = (regressor.predict(houses.assign(town=t)) for t in ("Bonn", "Celle"))
    assert np.mean(in_bonn - in_celle) == pytest.approx(60, abs=25)


def test_features_are_named_after_columns(regressor, classifier):
    towns = ("town = Aachen", "town = Bonn", "town = Celle")
    assert regressor.fitted_.feature_names == ("size", *towns, "age")
    assert classifier.fitted_.feature_names == ("size", "age", "bonn", "one")
    assert classifier.feature_names_in_.tolist() == ["size", "age", "bonn", "one"]


def test_a_missing_column_is_named(regressor, houses):
    with pytest.raises(TableError, match="town"):
        regressor.predict(houses.drop(columns="town"))


def test_settings_say_what_followed_from_the_data(regressor, tiny):
    settings = regressor.settings_
    assert (settings.num_rows, settings.num_validation_rows, settings.num_features) == (60, 0, 5)
    assert settings.hidden == tiny["hidden"] and settings.num_mean_steps == tiny["num_steps"]
    assert len(regressor.fitted_.validation_rows) == 0  # every row can be left out in closed form


def test_predictions_for_a_table_of_arrow_are_those_for_a_frame(regressor, houses):
    table = pyarrow.Table.from_pandas(houses)
    np.testing.assert_array_equal(regressor.predict(table), regressor.predict(houses))
    np.testing.assert_array_equal(regressor.novelty(table), regressor.novelty(houses))


DATES = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=3)})
NOT_NUMBERS = {
    "a frame with text": (pd.DataFrame({"a": ["red", "blue", "red"], "b": [1.0, 2.0, 3.0]}), "red"),
    "an array of text": (np.array([["red"], ["blue"], ["red"]], object), "red"),
    "dates": (DATES, "a column of dates"),
    "dates and numbers": (DATES.assign(b=1.0), "a column of dates"),
    "missing values": (np.array([[1.0], [np.nan], [2.0]]), "NaN"),
}


@pytest.mark.parametrize(("rows", "found"), NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_rows_that_are_not_numbers_point_to_fit_table(rows, found):
    message = rf"GFSVIRegressor.fit expects numbers; got .*{found}.* use fit_table\(frame, target\)"
    with pytest.raises(ValueError, match=message):
        GFSVIRegressor().fit(rows, [1.0, 2.0, 3.0])


def test_text_as_the_target_of_a_regressor_points_to_classifiers():
    with pytest.raises(ValueError, match="expects numbers as targets; got the text 'dear'. For la"):
        GFSVIRegressor().fit([[1.0], [2.0]], ["dear", "cheap"])


def test_a_fitted_estimator_writes_its_page(regressor, classifier, tmp_path):
    for number, estimator in enumerate((regressor, classifier)):
        page = tmp_path / f"{number}.html"
        estimator.report(page)
        text = page.read_text()
        assert text.startswith("<!doctype html>") and "size" in text
    assert "price" in (tmp_path / "0.html").read_text()


def test_a_loaded_estimator_writes_its_page_once_it_is_given_the_table(saved, houses, tmp_path):
    loaded = load(saved)
    with pytest.raises(ValueError, match=r"expects the rows of the fit.*report\(path, table"):
        loaded.report(tmp_path / "page.html")
    loaded.report(tmp_path / "page.html", pyarrow.Table.from_pandas(houses))
    assert "price" in (tmp_path / "page.html").read_text()


@pytest.mark.slow  # choosing the rest of such a prior compiles
def test_a_kernel_in_units_keeps_them_through_fit_file_and_page(tiny, tmp_path):
    days = np.arange(0.0, 1200.0, 20.0)
    frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")})
    frame["y"] = np.sin(2 * np.pi * days / 365.2425) + days / 1000
    kernel = Periodic(period="1 year").on("day") + RBF(lengthscale="~5 years").on("day")
    fitted = GFSVIRegressor(**tiny | {"kernel": kernel}).fit_table(frame, "y")
    assert "period='1 year').on('day') + RBF(lengthscale='~" in repr(fitted.kernel_)
    fitted.save(tmp_path / "m.gfsvi")
    loaded = load(tmp_path / "m.gfsvi")
    assert loaded.kernel == repr(kernel) and repr(loaded.kernel_) == repr(fitted.kernel_)
    np.testing.assert_array_equal(loaded.predict(frame), fitted.predict(frame))
    fitted.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_a_fit_shows_what_it_is(regressor, classifier):
    text = repr(regressor.fitted_)
    assert text.startswith("Fitted regression\n  target: price: mean ")
    assert "inputs: size, town, age" in text and "kernel: RBF(lengthscale=[" in text
    assert "target: y: cheap, dear, fair" in repr(classifier.fitted_)
    assert regressor.fitted_._repr_html_().startswith("<pre")
