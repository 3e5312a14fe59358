"""The page in a real browser: nothing fetched, nothing broken, readable light, dark and narrow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# A box of its own, and something drawn in it that has a size.
UNDRAWN = """svg => {
    const box = svg.getBoundingClientRect();
    const paths = [...svg.querySelectorAll('path')];
    const seen = paths.filter(path => {
        const own = path.getBoundingClientRect(), style = getComputedStyle(path);
        return own.width + own.height > 0 && (style.fill !== 'none' || style.stroke !== 'none');
    });
    return box.width > 0 && box.height > 0 && seen.length > 3;
}"""

# Pairs of texts in one picture whose boxes overlap by more than a hair, and texts off the page.
COLLISIONS = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
    const found = [], texts = [...svg.querySelectorAll('text')];
    const boxes = texts.map(text => text.getBoundingClientRect());
    boxes.forEach((a, i) => {
        if (a.left < -1 || a.right > window.innerWidth + 1) found.push(texts[i].textContent);
        boxes.slice(i + 1).forEach((b, j) => {
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 3)
                found.push(texts[i].textContent + ' | ' + texts[i + 1 + j].textContent);
        });
    });
    return found;
})"""


VIEWS = {
    "light": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
}


@pytest.fixture(scope="module", params=["regression", "classification"])
def opened(request: Any, browser: Any, pages: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """The page in each view, with what the browser complained about and asked for."""
    views = {}
    for name, settings in VIEWS.items():
        view = browser.new_page(**settings)
        view.set_default_timeout(120_000)
        heard: dict[str, list[str]] = {"complaints": [], "requests": []}
        view.on("console", lambda message, heard=heard: heard["complaints"].append(message.text))
        view.on("pageerror", lambda error, heard=heard: heard["complaints"].append(str(error)))
        view.on("dialog", lambda dialog, heard=heard: heard["complaints"].append(dialog.message))
        view.on("request", lambda sent, heard=heard: heard["requests"].append(sent.url))
        view.goto(pages[request.param].as_uri())
        views[name] = (view, heard, pages[request.param].as_uri())
    yield views
    for view, *_ in views.values():
        view.close()


@pytest.mark.parametrize("name", VIEWS)
def test_the_page_is_whole_in_every_view(opened: dict[str, Any], name: str) -> None:
    view, heard, address = opened[name]
    assert heard["complaints"] == []
    # The empty icon is part of the page.
    assert [url for url in heard["requests"] if not url.startswith("data:")] == [address]
    pictures = view.query_selector_all("svg")
    assert len(pictures) >= 10
    assert all(picture.evaluate(UNDRAWN) for picture in pictures)
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert view.evaluate("document.scripts.length") == 0


def test_dark_pages_are_dark_and_light_ones_light(opened: dict[str, Any]) -> None:
    def lightness(name: str, selector: str, rule: str) -> float:
        asked = f"getComputedStyle(document.querySelector('{selector}')).{rule}"
        numbers = opened[name][0].evaluate(asked).removeprefix("rgb(").removesuffix(")")
        return sum(map(float, numbers.split(","))) / 3

    assert lightness("light", "body", "backgroundColor") > 240
    assert lightness("light", "svg text", "fill") < 120
    assert lightness("dark", "body", "backgroundColor") < 40
    assert lightness("dark", "svg text", "fill") > 140


def test_text_can_be_read_on_a_phone(opened: dict[str, Any]) -> None:
    heights = opened["narrow"][0].evaluate(
        "[...document.querySelectorAll('svg text')].map(t => {"
        "const m = t.getScreenCTM(); return parseFloat(getComputedStyle(t).fontSize)"
        " * Math.hypot(m.a, m.b); })"
    )
    assert min(heights) > 7.5


@pytest.mark.parametrize("name", VIEWS)
def test_labels_of_pictures_neither_collide_nor_leave_the_page(
    opened: dict[str, Any], name: str
) -> None:
    assert opened[name][0].evaluate(COLLISIONS) == []


def test_tables_that_are_wider_than_the_page_show_that_they_scroll(opened: dict[str, Any]) -> None:
    styles = opened["narrow"][0].evaluate(
        "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)"
        ".map(box => getComputedStyle(box).backgroundImage)"
    )
    assert styles and all("gradient" in style for style in styles)


def test_hostile_names_are_shown_as_they_are(opened: dict[str, Any], request: Any) -> None:
    if "regression" in request.node.name:
        assert "<script>alert(1)</script>" in opened["light"][0].inner_text("body")
