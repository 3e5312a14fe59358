"""Pages that list something list all of it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_extra_is_on_the_page_about_installing():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs/install.md").read_text()
    assert [e for e in project["optional-dependencies"] if f"`{e}`" not in page] == []


def test_every_finding_is_on_the_page_about_poor_fits():
    page = (ROOT / "docs/do/poor_fit.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "src/gfsvi").rglob("*.py"))
    names = re.findall(r'(?:Diagnostic|_warning)\(\s*"([a-z_]+)"', source)
    assert len(names) > 12
    assert [name for name in names if f"| `{name}` |" not in page] == []
