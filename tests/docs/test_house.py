"""What the documentation says about the layout of the library is true."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src/gfsvi"
ABOUT_FILES = ["CONTRIBUTING.md", "docs/explain/decisions.md", "docs/explain/pieces.md"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rooms_drawn() -> dict[str, str]:
    groups = tomllib.loads((ROOT / "docs/site/rooms.toml").read_text())
    return {room: line for group in groups.values() for room, line in group.items()}


def test_the_drawing_has_every_module_of_the_library_and_no_other():
    modules = {path.stem for path in LIBRARY.iterdir() if path.suffix == ".py"} - {"__init__"}
    packages = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}
    assert set(rooms_drawn()) == modules | packages


def test_the_drawing_has_every_layer_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    rooms = [room for layer in layers for room in re.split(r" [|:] ", layer)]
    assert sorted(rooms) == sorted(rooms_drawn())


def test_a_line_of_the_drawing_fits_on_a_phone():
    assert max(map(len, rooms_drawn().values())) <= 64


@pytest.mark.parametrize("page", ABOUT_FILES)
def test_every_file_that_a_page_about_the_code_names_exists(page):
    names = re.findall(
        r"`((?:[\w.]+/)*(?:\w+\.(?:py|toml|html\.j2|css)|[\w.]+/))`", page_text(page)
    )
    assert names
    missing = [n for n in names if not ((ROOT / n).exists() or (LIBRARY / n).exists())]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_dotted_name_of_the_library_on_a_page_can_be_imported(page):
    for name in re.findall(r"`(gfsvi(?:\.[A-Za-z_]\w*)+)[`(]", page.read_text()):
        if name.rpartition(".")[2] not in ("gfsvi", "checkpoint", "html"):  # names of files
            resolve(name)


def page_text(page: str) -> str:
    return (ROOT / page).read_text()


def resolve(name: str) -> object:
    """The module, class or function of a dotted name."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"{name} cannot be imported")
