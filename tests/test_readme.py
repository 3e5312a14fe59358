import importlib.util
import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


@pytest.mark.slow
def test_the_readme_example_runs_and_is_short(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(code.splitlines()) <= 15
    names: dict = {}
    exec(code, names)
    near, far = names["predictive"].epistemic_std
    assert near < far
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)h][^)]*)\)", README))
def test_every_file_the_readme_points_at_exists(path):
    assert (Path(__file__).parent.parent / path).exists()


def _figures():
    """The command that prints the README's figures, as a module."""
    path = Path(__file__).parent.parent / "docs" / "site" / "readme_figures.py"
    spec = importlib.util.spec_from_file_location("readme_figures", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIGURES = _figures()


@pytest.mark.parametrize("command", list(FIGURES.ROWS))
def test_the_figures_of_the_readme_are_those_of_the_records(command):
    row, figures = FIGURES.row_of(command), list(FIGURES.ROWS[command]())
    assert figures and [figure for figure in figures if figure not in row] == []
