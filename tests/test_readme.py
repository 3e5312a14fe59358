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
