"""What the site generates: pages of tutorials, lists of collections, drawings, the gallery."""

import argparse
import html
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hero
import measured
import tutorials
from mkdocs.structure.files import File, Files

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
INCLUDED = {
    "measured/regression.md": "results/regression/report.md",
    "measured/tables.md": "results/tables/report.md",
    "contributing.md": "CONTRIBUTING.md",
}


def on_config(config: Any) -> Any:
    """Show the version at the foot of every page."""
    config.copyright = f"gfsvi {next(_version())} · {config.copyright}"
    return config


def _version() -> Iterator[str]:
    """The version that the pages describe."""
    from gfsvi import __version__

    yield __version__


def on_files(files: Files, *, config: Any) -> Files:
    """Add pages made from scripts, results and files outside `docs`."""
    for script in sorted(tutorials.LEARN.glob("*.py")):
        content = tutorials.page(script)
        files.append(File.generated(config, f"learn/{script.stem}.md", content=content))
        notebook = json.dumps(tutorials.notebook(script), indent=1)
        files.append(File.generated(config, f"learn/{script.stem}.ipynb", content=notebook))
    for address, path in INCLUDED.items():
        files.append(File.generated(config, address, content=(ROOT / path).read_text()))
    for folder in figure_folders():
        picture = {"content": (folder / "figure.png").read_bytes()}
        files.append(File.generated(config, f"pictures/{folder.name}.png", **picture))
    return files


def figure_folders() -> list[Path]:
    """Folders of results that have a picture."""
    return sorted(path.parent for path in (ROOT / "results").glob("*/figure.png"))


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Expand markers such as `<!-- every kernels -->`."""
    return re.sub(r"<!-- (\w[\w ]*?) -->", _expanded, markdown)


def _expanded(marker: re.Match[str]) -> str:
    verb, *arguments = marker.group(1).split()
    makers: dict[str, Callable[..., Iterator[str]]] = {
        "every": _every,
        "table": _table,
        "figures": _figures,
        "commands": _commands,
        "drawing": _drawing,
        "house": _house,
        "scores": _scores,
        "seconds": _seconds,
        "hero": hero.panels,
        "measured": measured.table,
        "version": _version,
    }
    return "\n\n".join(makers[verb](*arguments)) if verb in makers else marker.group(0)


def _every(collection: str) -> Iterator[str]:
    """The documentation of each member of a collection."""
    from gfsvi import registry

    for name in registry.names(collection):
        member = registry.find(collection, name)
        yield f"::: {member.__module__}.{member.__qualname__}"


def _table(collection: str) -> Iterator[str]:
    """The data sets, one per line."""
    from gfsvi import registry

    lines = ["| name | what | predicts | rows x features | licence |", "|---|---|---|---|---|"]
    for name in registry.names(collection):
        member = registry.find(collection, name)
        size = " x ".join(map(str, member.shape))
        lines.append(f"| `{name}` | {member.title} | {member.target} | {size} | {member.licence} |")
    yield "\n".join(lines)


def _drawing() -> Iterator[str]:
    """The five nouns, inline so that the drawing has the colours of the page."""
    yield (SITE / "pieces.svg").read_text()


def _house() -> Iterator[str]:
    """The rooms of the library, layer by layer, as `pyproject.toml` has them."""
    described = {
        room: (group, line)
        for group, rooms in tomllib.loads((SITE / "rooms.toml").read_text()).items()
        for room, line in rooms.items()
    }
    floors = "".join(
        f"<li>{''.join(_room(r, *described[r]) for r in rooms)}</li>" for rooms in layers()
    )
    yield f'<ol class="house">{floors}</ol>'


def _room(name: str, group: str, line: str) -> str:
    text = re.sub(r"`(.*?)`", r"<code>\1</code>", html.escape(line))
    return f'<div class="room {group}"><strong>{name}</strong> {text}</div>'


def layers() -> list[list[str]]:
    """The layers that import-linter checks, highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = (
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    return [re.split(r" [|:] ", layer) for layer in contract["layers"]]


def _scores(metric: str) -> Iterator[str]:
    """A table of the regression report: our figures, for data sets that every method has."""
    report = (ROOT / "results/regression/report.md").read_text()
    (section,) = re.findall(
        rf"(?i)^## {metric.replace('_', '.')}.*?\n\n(.*?)\n\n", f"{report}\n\n", re.M | re.S
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()]
    header, _, *body = rows
    kept = [i for i, _ in enumerate(header) if all(row[i] != "-" for row in body)]
    kept = [i for i in kept if header[i] != "mean rank"]
    plain = [[re.sub(r" ?\[.*?\]| ?\(\d+ of \d+ runs\)", "", row[i]) for i in kept] for row in body]
    lines = [[header[i] for i in kept], ["---"] * len(kept), *plain]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _seconds() -> Iterator[str]:
    """Seconds per method, fastest first."""
    measured = json.loads((ROOT / "results/method_steps.json").read_text())
    seconds = {name: row["seconds_to_early_stopping"] for name, row in measured.items()}
    lines = [
        f"| {name} | {value:.1f} |" for name, value in sorted(seconds.items(), key=lambda s: s[1])
    ]
    yield "\n".join(["| method | seconds |", "|---|---|", *lines])


def _figures() -> Iterator[str]:
    """Every figure of the results, with its title and description."""
    for folder in figure_folders():
        experiment = tomllib.loads((folder / "experiment.toml").read_text())
        yield f"## {experiment['title']}"
        yield experiment["report"]["text"].strip()
        yield f"![{experiment['title']}](pictures/{folder.name}.png)"


def _commands() -> Iterator[str]:
    """The help text of every command."""
    from gfsvi.cli.commands import parser

    for command in _leaves(parser()):
        yield f"## {command.prog}\n\n```text\n{command.format_help().strip()}\n```"


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for child in group.choices.values():
            yield from _leaves(child)
