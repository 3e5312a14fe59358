"""Missing packages are asked for before the work, with a command that every shell understands."""

import sys
import tomllib
from pathlib import Path

import pytest

from gfsvi.numerics.extras import EXTRAS, MissingExtraError, check_extra

from .test_bad_tables import GOOD, csv, fit, refused

ANY = "x"


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        (fit("table.csv", "--report", "page.html"), "jinja2", "report"),
        (fit("table.csv"), "pandas", "tables"),
        (["predict", ANY, "table.csv", "--output", "p.csv"], "pyarrow", "tables"),
        (["evaluate", ANY, "table.csv"], "pandas", "tables"),
        (["demo"], "matplotlib", "report"),
        (["bench", "run", ANY, "--output", "folder"], "filelock", "bench"),
        (["bench", "report", ANY], "jinja2", "bench"),
        (["bench", "tune", ANY, "--output", "folder"], "optuna", "search"),
    ],
)
def test_a_missing_package_is_asked_for_before_working(
    run, problem_of, monkeypatch, words, module, extra
):
    Path("table.csv").write_bytes(csv(GOOD))
    monkeypatch.setitem(sys.modules, module, None)
    answer = run(*words)
    refused(answer, about=f"{module} is not installed.")
    assert f'`pip install "gfsvi[{extra}]"`.' in answer[2]
    assert [path.name for path in Path().iterdir()] == ["table.csv"]


def test_a_fit_without_a_report_needs_no_jinja2(problem_of, monkeypatch):
    Path("table.csv").write_bytes(csv(GOOD))
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert len(problem_of(*fit("table.csv", "--quiet")).rows) == len(GOOD)


def test_a_missing_package_is_an_import_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match="--ray expects ray; ray is not installed") as told:
        check_extra("cluster", "--ray")
    assert isinstance(told.value, ImportError) and told.value.name == "ray"


def test_the_modules_of_each_extra_are_those_of_the_distribution():
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())
    declared = project["project"]["optional-dependencies"]
    for extra, modules in EXTRAS.items():
        packages = {one.partition(">")[0] for one in declared[extra] if "gfsvi" not in one}
        assert packages == set(modules)
