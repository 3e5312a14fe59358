"""The tutorial's code is what the studio writes after what the tutorial says to do."""

import importlib.util
from pathlib import Path

from gfsvi.studio.exporting import exported
from gfsvi.studio.opened import Tables, rows_of
from gfsvi.studio.presets import preset
from gfsvi.studio.workspace import Workspace

from .workspaces import workspace

ROOT = Path(__file__).parents[2]


def test_the_tutorial_ends_in_the_code_that_the_studio_writes(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / "docs/site/tutorials.py")
    tutorials = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tutorials)
    cells = [c for c in tutorials.cells(ROOT / "docs/learn/studio.py") if c.kind == "python"]
    monkeypatch.chdir(tmp_path)
    exec(compile(cells[0].text, "tutorial", "exec"), {})
    table = Tables().open("lake.csv", (tmp_path / "lake.csv").read_bytes())
    rows = rows_of(table, "level")
    view = {"column": "date", "low": 0.0, "high": rows["columns"][0]["high"]}
    constant = [{"std": 1.0, "factors": [{"family": "constant", "columns": [], "values": {}}]}]
    content = workspace(**rows, terms=constant, view=view) | {"hidden": [100, 100]}
    content |= preset(Workspace.read(content), "seasonal_with_trend")
    content["terms"][0]["std"], content["terms"][1]["std"] = 6.0, 9.0
    written = exported(Workspace.read(content))["python"]
    kernel = written[written.index("kernel = ") :].strip()
    assert kernel in cells[1].text
