import numpy as np
import pytest

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
