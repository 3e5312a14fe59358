"""Pictures of fits."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.plots import plot_1d, plot_calibration, plot_effects

TINY = {"kernel": "rbf", "hidden": (8,), "num_points": 50, "prior_mean": None, "random_state": 0}


@pytest.fixture(autouse=True)
def _no_window():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "agg"}):
        yield
    plt.close("all")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    size, town = random.uniform(40, 200, 60), np.array(["Aachen", "Bonn"])[np.arange(60) % 2]
    price = 3 * size + 60 * (town == "Bonn") + 10 * random.normal(size=60)
    built = np.datetime64("1990-01-01") + random.integers(0, 9000, 60)
    rooms = random.integers(1, 9, 60)
    columns = {"size": size, "town": town, "built": built, "rooms": rooms, "price": price}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def model(table):
    return GFSVIRegressor(**TINY).fit_table(table, "price")


@pytest.fixture(scope="module")
def labels(table):
    return GFSVIClassifier(**TINY).fit(table[["size", "rooms"]], table["price"] > 350)


def band(axes, number, x):
    """The lower and upper ends of a band at each of these places."""
    points = axes.collections[number].get_paths()[0].vertices
    ends = [points[np.isclose(points[:, 0], place), 1] for place in x]
    return [end.min() for end in ends], [end.max() for end in ends]


def test_the_line_is_the_mean_where_other_columns_are_typical(model, table):
    axes = plot_1d(model, table, table["price"], column="size")
    points, line = axes.get_lines()[1], axes.get_lines()[0]
    np.testing.assert_array_equal(points.get_xdata(), table["size"])
    rows = table.iloc[[0] * 100].assign(size=np.linspace(*table["size"].agg(["min", "max"]), 100))
    typical = table[["rooms", "built"]].quantile(0.5, interpolation="nearest")
    rows = rows.assign(town="Aachen", rooms=typical["rooms"], built=typical["built"])
    np.testing.assert_allclose(line.get_ydata(), model.predict(rows))


def test_bands_are_the_interval_and_two_deviations_of_the_function(table):
    price = table["price"] - 60 * (table["town"] == "Bonn")
    model = GFSVIRegressor(**TINY).fit(table[["size"]], price)
    axes = plot_1d(model, table[["size"]], level=0.8)
    x = axes.get_lines()[0].get_xdata()[:, None]
    predictive = model.predict_distribution(pd.DataFrame(x, columns=["size"]))
    known = 2 * predictive.epistemic_std
    expected = (predictive.interval(0.8), (predictive.mean - known, predictive.mean + known))
    for number, ends in enumerate(expected):
        np.testing.assert_allclose(band(axes, number, x[:, 0]), ends)


def test_effects_share_a_scale_and_levels_have_names(model, table):
    panels = plot_effects(model, table)
    assert [panel.get_xlabel() for panel in panels] == ["size", "town", "built", "rooms"]
    assert len({panel.get_ylim() for panel in panels}) == 1
    names = [label.get_text() for label in panels[1].get_xticklabels()]
    assert sorted(names) == ["Aachen", "Bonn"]
    means = panels[1].get_lines()[0].get_ydata()
    assert means[names.index("Bonn")] > means[names.index("Aachen")] + 20


def test_labels_are_drawn_as_probabilities(labels, table):
    axes = plot_1d(labels, table[["size", "rooms"]], column="size")
    lines = [line.get_ydata() for line in axes.get_lines()]
    np.testing.assert_allclose(np.sum(lines, axis=0), 1.0)
    assert lines[1][-1] > 0.8 > 0.2 > lines[1][0]


def test_calibration_of_numbers_is_the_share_of_rows_inside(model, table):
    axes = plot_calibration(model, table, table["price"])
    _, found = axes.get_lines()
    low, high = model.predict_distribution(table).interval(0.5)
    inside = np.mean((low <= table["price"]) & (table["price"] <= high))
    place = np.argmin(np.abs(found.get_xdata() - 0.5))
    assert found.get_ydata()[place] == inside


def test_calibration_of_labels_is_the_accuracy_at_a_confidence(labels, table):
    x, y = table[["size", "rooms"]], table["price"] > 350
    axes = plot_calibration(labels, x, y)
    found = axes.get_lines()[1]
    probabilities = labels.predict_proba(x)
    sure = probabilities.max(axis=1) >= 0.9
    right = labels.predict(x) == y
    np.testing.assert_allclose(found.get_ydata()[-1], np.mean(right[sure]))
    np.testing.assert_allclose(found.get_xdata()[-1], np.mean(probabilities.max(axis=1)[sure]))


def test_pictures_are_drawn_on_given_axes(model, labels, table):
    import matplotlib.pyplot as plt

    one, two, three = plt.subplots(1, 3)[1]
    assert plot_1d(model, table, column="town", axes=one) is one
    assert plot_calibration(model, table, table["price"], axes=two) is two
    assert plot_effects(model, table, columns=["rooms"], axes=[three])[0] is three


def test_what_cannot_be_drawn_is_said_in_words(model, table):
    with pytest.raises(ValueError, match="model of one column, or the name of one"):
        plot_1d(model, table)
    with pytest.raises(ValueError, match="got 'colour'"):
        plot_effects(model, table, columns=["colour"])
    with pytest.raises(ValueError, match="expected 2 axes, one per column; got 0"):
        plot_effects(model, table, columns=["size", "rooms"], axes=[])
