"""Workspaces are read with care, and become the kernels that they describe."""

import copy

import numpy as np
import pytest

from gfsvi.auto.kernel_text import kernel_of as kernel_of_text
from gfsvi.auto.units import in_model_units
from gfsvi.numerics.precision import double
from gfsvi.studio.blocks import FAMILIES
from gfsvi.studio.building import grid_of, kernel_as_written, kernel_of, length_text, plain_kernel
from gfsvi.studio.presets import NAMES, preset
from gfsvi.studio.reading import WorkspaceError
from gfsvi.studio.workspace import Workspace

from .workspaces import FACTOR, SEASONAL, axis, with_points, workspace


def changed(path: str, value: object) -> dict:
    content = copy.deepcopy(with_points())
    *parents, last = [int(p) if p.isdecimal() else p for p in path.split(".")]
    inner = content
    for name in parents:
        inner = inner[name]
    inner[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("format", 2, "expected a workspace of format 1"),
        ("columns", [], "columns; got"),
        ("columns.0.low", 20.0, "low < high"),
        ("columns.0.kind", "<b>", "one of number, date, category"),
        ("columns.0.features", [3], "different names and features"),
        ("target.name", 3, "a text"),
        ("target.spread", -1.0, "a positive number"),
        ("terms", [], "a list of 1 to 6 items"),
        ("terms.0.std", 0, "a positive number as std; got 0"),
        ("terms.0.std", float("nan"), "a positive number"),
        ("terms.0.std", True, "a positive number"),
        ("terms.0.factors.0.family", "os.system", "one of rbf"),
        ("terms.0.factors.0.values", {}, "expects lengthscale"),
        ("terms.0.factors.0.columns", ["z"], "its own columns, x; got 'z'"),
        ("noise", None, "a positive number as noise; got nothing"),
        ("hidden", [0], "widths from 1 to 200"),
        ("hidden", [10**6], "a whole number from 0"),
        ("rows.y", [1.0], "a target for each row"),
        ("rows.x", [["a"]], "rows of 1 numbers"),
        ("rows.x", [[1.0, 2.0]], "rows of 1 numbers"),
        ("rows.y", [float("inf")] * 30, "finite numbers"),
        ("view.low", 99.0, "low < high"),
        ("view.column", "z", "its own columns"),
        ("view.draws", 10**9, "a whole number from 0 to 20"),
        ("view.at", {"z": 1.0}, "its own columns"),
        ("source.kind", "file:///etc/passwd", "one of none, points, table"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(path, value, sentence):
    with pytest.raises(WorkspaceError) as caught:
        Workspace.read(changed(path, value))
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [None, [], "text", 3, {}])
def test_what_is_no_workspace_is_refused(content):
    with pytest.raises(WorkspaceError):
        Workspace.read(content)


def test_the_scale_is_that_of_a_fit():
    found = Workspace.read(with_points()).scale
    x, y = (np.ravel(with_points()["rows"][name]) for name in "xy")
    np.testing.assert_allclose([found.centre[0], found.spread[0]], [x.mean(), x.std()])
    np.testing.assert_allclose([found.target_centre, found.target_spread], [y.mean(), y.std()])


@double
def test_the_kernel_on_the_standardised_scale_is_that_in_the_users_units():
    read = Workspace.read(with_points(terms=SEASONAL))
    x = np.linspace(0, 10, 7)
    plain = plain_kernel(kernel_of(read)).gram(read.scale.inputs(x[:, None]))
    difference, spread = x[:, None] - x, read.scale.target_spread
    s = np.sqrt(5) * np.abs(difference) / 8.0
    drift = (1 + s + s**2 / 3) * np.exp(-s)
    season = 0.7**2 * np.exp(-2 * np.sin(np.pi * difference / 2.0) ** 2) * drift
    around = (x - read.scale.centre[0]) / read.scale.spread[0]
    wanted = season + 1.2**2 * np.outer(around, around) + 0.4**2
    np.testing.assert_allclose(spread**2 * plain, wanted, rtol=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_block_is_the_same_kernel_as_text(family):
    values = dict.fromkeys(FAMILIES[family].parameters, 1.25)
    factor = {"family": family, "columns": ["x"], "values": values}
    read = Workspace.read(with_points(terms=[{"std": 1.1, "factors": [factor, FACTOR]}]))
    again = in_model_units(kernel_of_text(kernel_as_written(read).code(12)), read.scale.features)
    x = read.scale.inputs(read.x)
    expected = plain_kernel(kernel_of(read)).gram(x)
    np.testing.assert_allclose(plain_kernel(again).gram(x), expected, rtol=1e-9)


@pytest.mark.parametrize("days", [1 / 86400, 0.5, 1.0, 21.0, 365.2425, 22 * 365.2425, 17.123456])
def test_times_are_short_where_that_is_exact(days):
    from gfsvi.numerics.quantities import parsed

    assert parsed(length_text(days, True)).days == pytest.approx(days, rel=1e-9)
    assert length_text(21.0, True) == "3 weeks" and length_text(365.2425, True) == "1 year"


def test_the_grid_holds_other_columns_where_sliders_are():
    town = {"name": "town", "kind": "category", "low": 0, "high": 1, "middle": 1.0}
    town |= {"levels": ["Bonn", "Celle"], "features": [1, 2]}
    features = [
        {"name": name, "column": name.split()[0], "spread": 1.0, "centre": 0.0}
        for name in ("x", "town Bonn", "town Celle")
    ]
    content = workspace(columns=[axis(), town], features=features)
    along, found = grid_of(Workspace.read(content), 4)
    np.testing.assert_allclose(along, [-1, 3, 7, 11])
    np.testing.assert_array_equal(found[:, 1:], [[0, 1]] * 4)
    content["view"]["at"] = {"town": 0}
    np.testing.assert_array_equal(grid_of(Workspace.read(content), 4)[1][:, 1:], [[1, 0]] * 4)
    content["view"] |= {"column": "town", "at": {"x": 2.5}}
    along, found = grid_of(Workspace.read(content), 4)
    np.testing.assert_array_equal(found, [[2.5, 1, 0], [2.5, 0, 1]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", [workspace(), with_points()], ids=["no data", "points"])
def test_presets_are_workspaces(name, content):
    found = preset(Workspace.read(content), name)
    if found["kind"] == "field":
        assert found["field"]["sources"] < 0.05 * found["field"]["swirl"]
    else:
        assert Workspace.read({**content, **found}).terms


def test_a_season_of_dates_is_a_year_and_the_view_shows_some_of_them():
    column = axis(high=44 * 365.2425) | {"kind": "date", "first": "1958-03-29"}
    content = workspace(columns=[column])
    content["view"] |= {"low": 0.0, "high": 44 * 365.2425}
    found = preset(Workspace.read(content), "seasonal")
    assert found["terms"][0]["factors"][0]["values"]["period"] == 365.2425
    assert found["view"]["high"] - found["view"]["low"] == pytest.approx(12 * 365.2425)
    assert found["view"]["high"] > column["high"]
