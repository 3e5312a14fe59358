"""Every code block in the README and on the pages does what it shows."""

import contextlib
import io
import re
import shlex
import textwrap
import tomllib
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

from gfsvi.cli.commands import parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages whose blocks take more than about five seconds.
SLOW = {
    "README.md",
    "docs/index.md",
    "docs/do/pipeline.md",
    "docs/do/poor_fit.md",
    "docs/do/prior.md",
    "docs/explain/infinite_kl.md",
    "docs/explain/pieces.md",
    "docs/explain/regularized_kl.md",
}
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
OUTPUT = 'text title="it prints"'
# Packages that `make test-peers` installs; elsewhere the rest of the page is not run.
NEEDS = re.compile('python title="needs ([a-z]+)"')


class Block(NamedTuple):
    """A code block, its language, the output that the page shows, and an optional package."""

    language: str
    code: str
    printed: str | None
    needs: str | None = None


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in order, each with the output shown after it."""
    found: list[Block] = []
    for match in FENCE.finditer(page.read_text()):
        code = textwrap.dedent(match[3])
        if OUTPUT in match[0].splitlines()[0]:
            found[-1] = found[-1]._replace(printed=code)
        else:
            needs = NEEDS.search(match[0].splitlines()[0])
            found.append(Block(match[2], code, None, needs and needs[1]))
    return found


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def pages_with(language: str) -> list:
    return [
        pytest.param(page, id=name(page), marks=[pytest.mark.slow] if name(page) in SLOW else [])
        for page in PAGES
        if any(block.language == language for block in blocks(page))
    ]


@pytest.mark.parametrize("page", pages_with("python"))
def test_every_python_block_of_a_page_runs_after_the_ones_before(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    for block in blocks(page):
        if block.language != "python":
            continue
        if block.needs is not None:
            pytest.importorskip(block.needs, reason="make test-peers installs it")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            if block.needs is not None:  # other packages warn as they like
                warnings.simplefilter("ignore")
            exec(compile(block.code, name(page), "exec"), names)
        if block.printed is not None:
            assert printed.getvalue() == block.printed


def commands() -> list:
    return [
        pytest.param(line, id=f"{name(page)}: {line}")
        for page in [*PAGES, *sorted((ROOT / "docs/learn").glob("*.py"))]
        for line in re.findall(r"^(?:# )?(gfsvi .*)$", page.read_text(), re.MULTILINE)
    ]


def test_there_are_commands_to_read():
    assert len(commands()) >= 10


@pytest.mark.parametrize("command", commands())
def test_every_command_shown_is_one_that_the_command_line_knows(command):
    assert parser().parse_args(shlex.split(command, comments=True)[1:]).run


@pytest.mark.parametrize("page", pages_with("toml"))
def test_every_toml_block_is_toml(page):
    for block in blocks(page):
        if block.language == "toml":
            assert tomllib.loads(block.code)


def test_every_fence_says_what_it_holds_on_the_pages_of_the_site():
    known = {"python", "bash", "toml", "text"}
    unknown = {
        name(page): block.language
        for page in PAGES[2:]
        for block in blocks(page)
        if block.language not in known
    }
    assert unknown == {}
