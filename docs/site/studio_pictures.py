"""The pictures of the studio in the documentation: wide, narrow and dark.

python docs/site/studio_pictures.py

They show the table of the tutorial `docs/learn/studio.py`. Needs chromium and playwright.
"""

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from gfsvi.studio.opened import Tables
from gfsvi.studio.server import Studio
from gfsvi.studio.serving import in_background

DOCS = Path(__file__).parents[1]
VIEWS = {
    "studio": {"viewport": {"width": 1360, "height": 900}, "color_scheme": "light"},
    "studio_dark": {"viewport": {"width": 1360, "height": 900}, "color_scheme": "dark"},
    "studio_narrow": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "studio_flow": {"viewport": {"width": 1360, "height": 760}, "color_scheme": "light"},
}


def lake(folder: Path) -> bytes:
    """The table that the tutorial begins with."""
    sys.path.insert(0, str(DOCS / "site"))
    import tutorials

    first = next(c for c in tutorials.cells(DOCS / "learn/studio.py") if c.kind == "python")
    with contextlib.chdir(folder), contextlib.redirect_stdout(None):
        exec(compile(first.text, "tutorial", "exec"), {"__name__": "tutorial"})
    return (folder / "lake.csv").read_bytes()


def settled(page: Any) -> None:
    """Wait until everything is drawn with care."""
    page.wait_for_timeout(600)
    page.wait_for_function(
        "() => document.body.dataset.drawn === document.body.dataset.revision"
        " && document.body.dataset.rest === 'true'"
    )


def typed(page: Any, slider: str, text: str) -> None:
    """Type over the number beside a slider."""
    page.fill(f"#{slider} + input", text)
    page.press(f"#{slider} + input", "Enter")


def take(page: Any, name: str) -> None:
    """Do what the tutorial says, and take a picture."""
    page.click("#preset-seasonal_with_trend")
    settled(page)
    typed(page, "size-0", "6")
    typed(page, "size-1", "9")
    if name == "studio_dark":
        page.click("#tab-out")
    if name == "studio_flow":
        page.click("#preset-flow")
        settled(page)
        draw_arrows(page)
    settled(page)
    page.screenshot(path=DOCS / "pictures" / f"{name}.png")


def draw_arrows(page: Any) -> None:
    """Three arrows, drawn with the pointer."""
    for x, y, u, v in ((0.25, 0.55, 40, -30), (0.5, 0.3, 50, 10), (0.7, 0.6, -10, 45)):
        box = page.locator("#canvas-prior").bounding_box()
        start = box["x"] + x * box["width"], box["y"] + y * box["height"]
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(start[0] + u, start[1] + v)
        page.mouse.up()
        settled(page)


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        table = Tables().open("lake.csv", lake(Path(folder)))
    with in_background(Studio(table, "level")) as address, sync_playwright() as playwright:
        place = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        for name, settings in VIEWS.items():
            page = browser.new_page(**settings)
            page.goto(address)
            page.wait_for_selector("body[data-ready]")
            settled(page)
            take(page, name)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
