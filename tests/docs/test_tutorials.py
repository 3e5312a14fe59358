"""Tutorials run, and their pages show what they printed."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs/learn").glob("*.py"))
QUICK = ("prior_knowledge",)
every_tutorial = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def words(text: str) -> list[str]:
    """What was printed, without the numbers, which vary between machines."""
    return re.sub(r"[-\d.,]+", " # ", text).split()


def test_there_are_tutorials(tutorials):
    assert {script.stem for script in SCRIPTS} == set(tutorials.ORDER)


@every_tutorial
def test_what_was_recorded_is_of_the_script_as_it_is_now(script, tutorials):
    code = [cell.text for cell in tutorials.cells(script) if cell.kind != "prose"]
    assert [outcome["code"] for outcome in tutorials.outcomes_of(script)] == code


@every_tutorial
def test_a_page_has_all_code_of_its_script(script, tutorials):
    shown = "\n\n".join(cell.text for cell in tutorials.cells(script) if cell.kind == "python")
    _docstring, *statements = ast.parse(script.read_text()).body
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.Module(statements, []))


def test_prose_and_code_are_told_apart(tutorials, tmp_path):
    script = tmp_path / "small.py"
    script.write_text('"""A title.\n\nIntro.\n"""\n\n# Prose.\n\n# why\nx = 1\n\n\ny = 2\n')
    assert tutorials.cells(script) == [
        ("prose", "# A title\n\nIntro."),
        ("prose", "Prose."),
        ("python", "# why\nx = 1\n\n\ny = 2"),
    ]


def test_commands_in_prose_are_cells(tutorials, tmp_path):
    script = tmp_path / "small.py"
    script.write_text('"""A title."""\n\n# Do:\n#\n# ```bash\n# echo 1\n# ```\n#\n# Done.\n')
    kinds = [(cell.kind, cell.text) for cell in tutorials.cells(script)[1:]]
    assert kinds == [("prose", "Do:"), ("bash", "echo 1"), ("prose", "Done.")]
    assert tutorials.run(script, tmp_path)[0]["output"] == "1"


def test_a_notebook_has_prose_code_and_commands(tutorials, tmp_path):
    script = tmp_path / "small.py"
    script.write_text('"""A title."""\n\n# ```bash\n# echo 1\n# ```\n\nx = 1\ny = 2\n')
    made = tutorials.notebook(script)["cells"]
    assert [(c["cell_type"], "".join(c["source"])) for c in made] == [
        ("markdown", "# A title"),
        ("code", "%%bash\necho 1"),
        ("code", "x = 1\ny = 2"),
    ]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=() if script.stem in QUICK else pytest.mark.slow, id=script.stem)
        for script in SCRIPTS
    ],
)
def test_every_tutorial_runs_and_prints_what_its_page_shows(script, tutorials, tmp_path):
    code = (
        "import json, pathlib, sys; sys.path.insert(0, 'docs/site'); import tutorials, matplotlib;"
        "matplotlib.use('Agg'); made = tutorials.run(pathlib.Path(sys.argv[1]).resolve(), "
        "pathlib.Path(sys.argv[2])); print(json.dumps(made))"
    )
    command = [sys.executable, "-c", code, str(script), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout.splitlines()[-1])
    for now, then in zip(made, tutorials.outcomes_of(script), strict=True):
        assert words(now["output"]) == words(then["output"])
        assert now["pictures"] == then["pictures"]
