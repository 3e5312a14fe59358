"""What leaves the studio makes again what was seen in it."""

import json
import shlex
import tomllib

import jax
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIRegressor
from gfsvi.auto.kernel_text import kernel_of as kernel_of_text
from gfsvi.auto.priors import kernels_named
from gfsvi.auto.units import in_model_units
from gfsvi.bench.schema import problem_of_experiment
from gfsvi.cli.commands import parser
from gfsvi.studio.building import kernel_of, plain_kernel
from gfsvi.studio.exporting import exported
from gfsvi.studio.field_view import look_at_field
from gfsvi.studio.opened import Tables, rows_of
from gfsvi.studio.workspace import Workspace

from .test_looking import field
from .workspaces import FACTOR, SEASONAL, with_points, workspace

HOSTILE = "x'\"); import os; os.system('x') # <script>\n\\"


def opened(frame: pd.DataFrame, target: str, terms: list) -> Workspace:
    """A workspace of a table, as the page makes it."""
    table = Tables().open("sales.csv", frame.to_csv(index=False).encode())
    rows = rows_of(table, target)
    column = rows["columns"][0]
    view = {"column": column["name"], "low": column["low"], "high": column["high"]}
    return Workspace.read(workspace(**rows, terms=terms, view=view))


def dates(name: str = "day") -> pd.DataFrame:
    random = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=60, freq="13D").strftime("%Y-%m-%d")
    return pd.DataFrame(
        {name: days, "size": random.normal(size=60), "sold": random.normal(size=60)}
    )


def terms(name: str = "day") -> list:
    season = {
        "family": "periodic",
        "columns": [name],
        "values": {"period": 365.2425, "lengthscale": 1.3},
    }
    drift = {"family": "matern32", "columns": [name], "values": {"lengthscale": 777.7}}
    everywhere = {"family": "rational_quadratic", "columns": []}
    everywhere |= {"values": {"lengthscale": 2.5, "mixture": 0.7}}
    return [{"std": 0.8, "factors": [season, drift]}, {"std": 0.3, "factors": [everywhere]}]


class Seen(Exception):
    """Raised where a fit would begin."""


@pytest.fixture
def begun(monkeypatch) -> list:
    """Estimators that were asked to fit, with what they were given."""
    found: list = []

    def fit_table(self, table, target):
        found.append((self, table, target))
        raise Seen

    monkeypatch.setattr(GFSVIRegressor, "fit_table", fit_table)
    return found


def prior_of(estimator, read: Workspace) -> np.ndarray:
    """The covariance at rows of the kernel that a fit would use, nothing of which it learns."""
    kernel = in_model_units(estimator.kernel, read.scale.features)
    assert all(isinstance(leaf, float) for leaf in jax.tree.leaves(kernel))
    return plain_kernel(kernel).gram(read.scale.inputs(read.x))


@pytest.mark.parametrize("name", ["day", HOSTILE], ids=["plain", "hostile"])
def test_the_python_code_makes_the_same_prior(name, begun, tmp_path, monkeypatch):
    read = opened(dates(name), "sold", terms(name))
    monkeypatch.chdir(tmp_path)
    dates(name).to_csv("sales.csv", index=False)
    code = exported(read)["python"]
    with pytest.raises(Seen):
        exec(compile(code, "prior.py", "exec"), {})
    ((estimator, table, target),) = begun
    assert target == "sold" and list(table.columns) == list(dates(name).columns)
    wanted = plain_kernel(kernel_of(read)).gram(read.scale.inputs(read.x))
    np.testing.assert_allclose(prior_of(estimator, read), wanted, rtol=1e-8)


def test_points_are_part_of_the_code(begun):
    read = Workspace.read(with_points(terms=SEASONAL))
    out = exported(read)
    with pytest.raises(Seen):
        exec(compile(out["python"], "prior.py", "exec"), {})
    ((estimator, table, target),) = begun
    np.testing.assert_allclose(table["x"], read.x[:, 0], rtol=1e-5)
    np.testing.assert_allclose(table[target], read.y, rtol=1e-5)
    assert out["points"].startswith("x,y\n0.0,") and len(out["points"].splitlines()) == 31
    wanted = plain_kernel(kernel_of(read)).gram(read.scale.inputs(read.x))
    np.testing.assert_allclose(prior_of(estimator, read), wanted, rtol=1e-8)


@pytest.mark.parametrize("name", ["day", HOSTILE], ids=["plain", "hostile"])
def test_the_command_line_parses_and_has_the_same_prior(name):
    read = opened(dates(name), "sold", terms(name))
    arguments = parser().parse_args(shlex.split(exported(read)["command"].splitlines()[0])[1:])
    assert (arguments.table, arguments.target) == ("sales.csv", ["sold"])
    kernel = in_model_units(kernel_of_text(arguments.kernel), read.scale.features)
    x = read.scale.inputs(read.x)
    wanted = plain_kernel(kernel_of(read)).gram(x)
    np.testing.assert_allclose(plain_kernel(kernel).gram(x), wanted, rtol=1e-8)


@pytest.mark.parametrize("name", ["day", HOSTILE], ids=["plain", "hostile"])
def test_the_experiment_has_the_same_prior_on_the_standardised_scale(name):
    read = opened(dates(name), "sold", terms(name))
    content = tomllib.loads(exported(read)["toml"])
    assert problem_of_experiment(content) is None
    assert content["datasets"] == ["sales.csv:sold"]
    x = read.scale.inputs(read.x)
    (kernel,) = kernels_named(content["settings"]["kernel"], x.shape[1:])
    wanted = plain_kernel(kernel_of(read)).gram(x)
    np.testing.assert_allclose(plain_kernel(kernel).gram(x), wanted, rtol=1e-7)


@pytest.mark.parametrize("kind", ["number", "date"])
def test_without_data_the_code_draws_the_prior(kind, tmp_path, monkeypatch):
    mpl.use("Agg")
    content = workspace(terms=[{"std": 2.0, "factors": [FACTOR]}])
    content["columns"][0] |= {"kind": kind, "first": "2021-05-01"}
    content["columns"][0]["name"] = content["view"]["column"] = HOSTILE.replace("\n", "")
    content["terms"][0]["factors"] = [FACTOR | {"columns": [content["view"]["column"]]}]
    out = exported(Workspace.read(content))
    assert "needs 10 rows" in out["command"] and "needs 10 rows" in out["toml"]
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(out["python"], "prior.py", "exec"), names)
    assert (tmp_path / "prior.png").stat().st_size > 1000
    low, high = names["axes"].collections[0].get_datalim(names["axes"].transData).intervaly
    assert (low, high) == pytest.approx((-4.0, 4.0), rel=1e-6)


def test_the_code_of_a_field_makes_the_same_arrows():
    content = field()
    names: dict = {}
    exec(compile(exported(Workspace.read(content))["python"], "field.py", "exec"), names)
    shown = look_at_field(Workspace.read(content))
    np.testing.assert_allclose(names["arrows"], shown["mean"], atol=2e-3)


def test_a_workspace_survives_being_saved():
    content = with_points(terms=SEASONAL)
    again = Workspace.read(json.loads(json.dumps(content)))
    assert exported(again) == exported(Workspace.read(content))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_by_the_exported_code_has_the_prior_that_was_seen(tmp_path, monkeypatch):
    read = Workspace.read(with_points(40, terms=SEASONAL))
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(exported(read)["python"], "prior.py", "exec"), names)
    fitted = names["regressor"].fitted_
    x = read.scale.inputs(read.x)
    found = plain_kernel(fitted.prior.function.kernel).gram(fitted.standardized(read.x))
    wanted = plain_kernel(kernel_of(read)).gram(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-8)
    assert (tmp_path / "points.gfsvi").exists() and (tmp_path / "points.html").exists()
