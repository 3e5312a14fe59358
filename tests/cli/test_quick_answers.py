"""Help, lists and answers to bad input come without importing what learning needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"jax", "equinox", "optax", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "jinja2"}
SCRIPT = """
import json, sys
from gfsvi.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as end:
    status = end.code
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""
FIT = ("fit", "table.csv", "--output", "model.gfsvi", "--target")


def answered(*words: str) -> tuple[int, set[str]]:
    """The exit code of a command, and the heavy packages that it imported."""
    command = [sys.executable, "-c", SCRIPT, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    status, modules = json.loads(done.stderr.splitlines()[-1])
    return status, HEAVY & set(modules)


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("fit", "--help"), ("list", "methods"), ("list",)]
)
def test_help_and_lists_import_nothing_heavy(words):
    assert answered(*words) == (0, set())


@pytest.mark.parametrize(
    "words",
    [
        (*FIT, "y", "--no-such-option"),
        (*FIT, "no such column"),
        (*FIT, "y", "--method", "no_such_method"),
        (*FIT, "y", "--kernel", "no_such_kernel"),
        ("fit", "nowhere.csv", "--target", "y", "--output", "model.gfsvi"),
        ("predict", "nowhere.gfsvi", "table.csv", "--output", "predictions.csv"),
        ("predict", "model.gfsvi", "nowhere.csv", "--output", "predictions.csv"),
        ("evaluate", "nowhere.gfsvi", "table.csv"),
    ],
)
def test_bad_input_is_answered_before_anything_heavy_is_imported(words):
    Path("table.csv").write_text("a,y\n1,2\n")
    assert answered(*words) == (2, set())
