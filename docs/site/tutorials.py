"""Tutorials: plain Python scripts that are also pages.

A block of comment lines between two empty lines is prose, in Markdown; everything else is code.
What the code printed and drew when it was last run is kept in `docs/learn/recorded`:

    python docs/site/tutorials.py [NAME ...]
"""

import ast
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LEARN = Path(__file__).parents[1] / "learn"
RECORDED = LEARN / "recorded"
ORDER = ("table", "studio", "prior_knowledge", "own_network", "labels", "images")


class Cell(NamedTuple):
    """One piece of a tutorial: `prose`, or code in `python` or `bash`."""

    kind: str
    text: str


def cells(path: Path) -> list[Cell]:
    """Split a script into cells; shell commands are fenced blocks in prose."""
    source = path.read_text()
    docstring = ast.get_docstring(ast.parse(source)) or ""
    title, _, introduction = docstring.partition("\n")
    rest = source.split('"""', 2)[2]
    found = [Cell("prose", f"# {title.rstrip('.')}\n{introduction}".strip())]
    for paragraph in re.split(r"\n\n+", rest.strip("\n")):
        if all(line.startswith("#") for line in paragraph.splitlines()):
            found.extend(_prose(paragraph))
        elif found[-1].kind == "python":
            found[-1] = Cell("python", f"{found[-1].text}{_gap(rest, paragraph)}{paragraph}")
        else:
            found.append(Cell("python", paragraph))
    return found


def _gap(source: str, paragraph: str) -> str:
    """The one or two empty lines before a paragraph."""
    return "\n\n\n" if f"\n\n\n{paragraph}" in source else "\n\n"


def _prose(paragraph: str) -> Iterator[Cell]:
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in paragraph.splitlines())
    for number, part in enumerate(re.split(r"```bash\n(.*?)```", text, flags=re.DOTALL)):
        if part.strip():
            yield Cell("bash" if number % 2 else "prose", part.strip("\n"))


def page(path: Path) -> str:
    """The tutorial as Markdown, with its recorded output."""
    recorded = iter(outcomes_of(path))
    parts = []
    for kind, text in cells(path):
        if kind == "prose":
            parts.append(text)
            continue
        parts.append(f"```{kind}\n{text}\n```")
        outcome = next(recorded, {"output": "", "pictures": []})
        if outcome["output"]:
            parts.append(f'```text title="it prints"\n{outcome["output"]}\n```')
        parts.extend(f"![What it draws](recorded/{name})" for name in outcome["pictures"])
    parts.append(
        f"*Run it yourself: download this page as a [notebook]({path.stem}.ipynb) or as a "
        f"[script]({path.name}).*"
    )
    return "\n\n".join(parts) + "\n"


def notebook(path: Path) -> dict[str, Any]:
    """The tutorial as a Jupyter notebook, without output."""
    made = []
    for number, (kind, text) in enumerate(cells(path)):
        cell: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}}
        text = f"%%bash\n{text}" if kind == "bash" else text
        if kind == "prose":
            cell |= {"cell_type": "markdown"}
        else:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        made.append(cell | {"source": text.splitlines(keepends=True)})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def outcomes_of(path: Path) -> list[dict[str, Any]]:
    """What was recorded when the tutorial was last run, per cell."""
    record = RECORDED / f"{path.stem}.json"
    return json.loads(record.read_text()) if record.exists() else []


def run(path: Path, folder: Path) -> list[dict[str, Any]]:
    """Run a tutorial in a folder, commands included; return what each cell printed and drew."""
    names: dict[str, Any] = {"__name__": "__main__"}
    outcomes = []
    with contextlib.chdir(folder):
        for cell in cells(path):
            if cell.kind == "prose":
                continue
            before = set(Path().glob("*.png"))
            output = _in_shell(cell.text) if cell.kind == "bash" else _in_python(cell.text, names)
            pictures = sorted(p.name for p in set(Path().glob("*.png")) - before)
            outcomes.append({"code": cell.text, "output": output, "pictures": pictures})
    return outcomes


def _in_python(code: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "tutorial", "exec"), names)
    return printed.getvalue().rstrip()


def _in_shell(command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", command],
        env=os.environ | {"PATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.rstrip()


def record(path: Path) -> None:
    """Run a tutorial and record what it printed and drew."""
    import matplotlib

    matplotlib.use("Agg")
    RECORDED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        outcomes = run(path, Path(folder))
        for name in (name for outcome in outcomes for name in outcome["pictures"]):
            shutil.copy(Path(folder) / name, RECORDED / name)
    (RECORDED / f"{path.stem}.json").write_text(json.dumps(outcomes, indent=1) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or ORDER:
        print(name, flush=True)
        record(LEARN / f"{name}.py")
