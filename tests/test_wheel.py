"""The wheel holds what the library needs, and works in an environment that has nothing else."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gfsvi.numerics.extras import EXTRAS

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
Install = Callable[[str], Path]
FIT = ("fit", "table.csv", "--target", "y", "--output", "m.gfsvi", "--time-budget", "1", "--quiet")


def called(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this clone."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    called(*build, cwd=ROOT, check=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    source = ROOT / "src"
    wanted = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == {name for name in wanted if "__pycache__" not in name}
    assert "gfsvi/report/page.html.j2" in held and "gfsvi/py.typed" in held


def test_every_version_that_is_promised_is_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = {word.rpartition(" ")[2] for word in project["classifiers"] if ":: 3." in word}
    assert promised == {*VERSIONS} and project["requires-python"] == f">={VERSIONS[0]}"


def interpreter(version: str) -> str:
    """A Python of this version: the one that runs the tests, one of pyenv's, or one on the path."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    known = (*map(str, versions.glob(f"{version}.*/bin/python")), shutil.which(f"python{version}"))
    for program in (sys.executable, *known):
        if program is None:
            continue
        answer = called(program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
        if answer.stdout.strip() == version:
            return program
    pytest.skip(f"no Python {version} here")


@pytest.fixture(params=VERSIONS)
def installed(request, wheel, tmp_path) -> Install:
    """Install the wheel with an extra, in the locked versions, into an empty environment."""
    python = interpreter(request.param)
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        pytest.skip("uv, a development tool, is not installed")

    def installed(extra: str) -> Path:
        environment = tmp_path / "empty"
        called(uv, "venv", "--quiet", "--python", python, environment, check=True)
        # Constraints with hashes would be asked of the wheel, too.
        lines = (ROOT / "requirements.lock").read_text().splitlines()
        versions = [line.removesuffix("\\") for line in lines if "--hash=" not in line]
        (tmp_path / "versions.lock").write_text("\n".join(versions))
        locked = ("--constraint", tmp_path / "versions.lock", "--python", environment)
        answer = called(uv, "pip", "install", "--quiet", *locked, f"{wheel}{extra}")
        assert answer.returncode == 0, answer.stderr
        return environment / ("Scripts" if sys.platform == "win32" else "bin")

    return installed


@pytest.mark.slow
def test_without_extras_the_command_line_says_what_to_install(installed, tmp_path):
    programs = installed("")
    (tmp_path / "table.csv").write_text("a,y\n1,2\n")
    assert called(programs / "gfsvi", "list", "kernels").returncode == 0
    answer = called(programs / "gfsvi", *FIT, cwd=tmp_path)
    assert answer.returncode == 2 and 'pip install "gfsvi[tables]"' in answer.stderr


@pytest.mark.slow
def test_with_tables_and_report_a_table_is_fitted_and_explained(installed, tmp_path):
    programs = installed("[tables,report]")
    numbers = np.random.default_rng(0).normal(size=(30, 2))
    pd.DataFrame(numbers, columns=["a", "y"]).to_csv(tmp_path / "table.csv", index=False)
    answer = called(programs / "gfsvi", *FIT, "--report", "page.html", cwd=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


FOREIGN = {"flax": ("flax",), "gpjax": ("gpjax",), "haiku": ("haiku",), "tinygp": ("tinygp",)}
"""Extras for objects of other libraries, which the user has imported already."""


def test_every_extra_is_installed_by_a_test():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*project["optional-dependencies"]} == {*EXTRAS, *FOREIGN, "all"}


@pytest.mark.slow
@pytest.mark.parametrize("extra", sorted(EXTRAS | FOREIGN))
def test_every_extra_brings_what_it_is_for(installed, extra):
    programs = installed(f"[{extra}]")
    modules = ", ".join((EXTRAS | FOREIGN)[extra])
    command = f"import gfsvi, {modules}; print(gfsvi.__version__)"
    answer = called(programs / "python", "-c", command)
    assert answer.returncode == 0, answer.stderr
