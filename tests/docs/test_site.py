"""The site builds without warnings, has every page, and is intact in a real browser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import gfsvi
from gfsvi import registry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
VIEWS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    "narrow and dark": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}


def html(site: Path, page: str) -> str:
    return (site / page).read_text()


def test_tutorials_become_pages_with_what_they_print(site, tutorials):
    for name in tutorials.ORDER:
        page = html(site, f"learn/{name}.html")
        assert "it prints" in page and f'href="{name}.py"' in page


@pytest.mark.parametrize("collection", ["kernels", "methods", "likelihoods", "points", "networks"])
def test_everything_that_has_a_name_is_on_its_page(site, collection):
    page = html(site, f"api/{collection}.html")
    for name in registry.names(collection):
        member = registry.find(collection, name)
        assert f'id="{member.__module__}.{member.__qualname__}"' in page


def test_signatures_show_fields_with_types_and_defaults_and_their_source(site):
    text = re.sub(r"<[^>]+>", "", html(site, "api/kernels.html"))
    assert "Matern52(lengthscale: Distance = 1.0, variance: Number = 1.0)" in text
    assert "Source code in src/gfsvi/kernels/matern52.py" in text
    text = re.sub(r"<[^>]+>", "", html(site, "api/estimators.html"))
    assert "novelty(X: ArrayLike) -&gt; np.ndarray" in text


def test_every_page_says_which_version_it_describes(site):
    for page in ("index.html", "install.html", "api/kernels.html"):
        assert f"gfsvi {gfsvi.__version__}" in html(site, page)
    assert f"version {gfsvi.__version__} of gfsvi" in html(site, "install.html")


def test_notebooks_are_offered_for_download(site, tutorials):
    for name in tutorials.ORDER:
        assert f'href="{name}.ipynb"' in html(site, f"learn/{name}.html")
        notebook = json.loads((site / f"learn/{name}.ipynb").read_text())
        assert notebook["nbformat"] == 4 and len({c["id"] for c in notebook["cells"]}) > 3
        code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
        assert code and all(c["outputs"] == [] for c in code)


def test_every_command_is_explained(site):
    page = html(site, "api/command_line.html")
    assert all(f"usage: gfsvi {c}" in page for c in ("demo", "fit", "predict", "evaluate", "list"))


def test_every_figure_is_in_the_gallery(site):
    page = html(site, "gallery.html")
    for picture in (ROOT / "results").glob("*/figure.png"):
        assert f"{picture.parent.name}.png" in page


def test_no_marker_is_left_unexpanded(site):
    for page in site.rglob("*.html"):
        assert not re.search(
            r"<!-- (every|table|figures|commands|scores|seconds|drawing|house)", page.read_text()
        )


def opened(browser: Any, address: str, view: str) -> tuple[Any, dict[str, list[str]]]:
    """A browser page, with its errors and requests."""
    page = browser.new_page(**VIEWS[view])
    page.set_default_timeout(120_000)
    heard: dict[str, list[str]] = {"complaints": [], "requests": []}
    page.on("console", lambda message: heard["complaints"].append(message.text))
    page.on("pageerror", lambda error: heard["complaints"].append(str(error)))
    # Not "requestfailed": leaving a page cancels its pending requests.
    page.on("response", lambda got: got.status < 400 or heard["complaints"].append(got.url))
    page.on("request", lambda sent: heard["requests"].append(sent.url))
    return page, heard


@pytest.mark.parametrize("view", VIEWS)
def test_every_page_is_whole_in_every_view(browser, address, site, view):
    page, heard = opened(browser, address, view)
    for file in sorted(site.rglob("*.html")):
        where = file.relative_to(site).as_posix()
        if where == "404.html":  # made for the root of a server
            continue
        page.goto(f"{address}{where}", wait_until="load")
        assert heard["complaints"] == [], where
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
        broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert page.evaluate(broken) == [], where
    page.close()
    elsewhere = [u for u in heard["requests"] if not u.startswith((address, "data:", "blob:"))]
    assert elsewhere == []


@pytest.mark.parametrize("view", VIEWS)
def test_drawings_fit_the_screen_with_letters_of_twelve_pixels(browser, address, view):
    page, _ = opened(browser, address, view)
    page.goto(f"{address}explain/pieces.html")
    drawn = "[...document.querySelectorAll('.drawing text, .drawing .room, .drawing code')]"
    assert page.evaluate(f"{drawn}.length") > 40
    scale = "(e.ownerSVGElement ? e.getScreenCTM().a : 1)"
    size = f"e => parseFloat(getComputedStyle(e).fontSize) * {scale}"
    assert page.evaluate(f"Math.min(...{drawn}.map({size}))") >= 12
    assert page.evaluate(f"{drawn}.every(e => e.getBoundingClientRect().right <= innerWidth)")
    page.close()


def test_search_finds_a_word(browser, address):
    page, heard = opened(browser, address, "light")
    page.goto(f"{address}index.html")
    page.click(".md-search__input")
    page.keyboard.type("novelty", delay=20)
    page.wait_for_selector(".md-search-result__item", timeout=120_000)
    assert "novelty" in page.inner_text(".md-search-result__list").lower()
    assert heard["complaints"] == []
    page.close()


def test_search_finds_a_word_in_pages_opened_from_disk(browser, site):
    page, heard = opened(browser, "", "light")
    page.goto((site / "do/prior.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("novelty", delay=20)
    page.wait_for_selector(".md-search-result__item", timeout=120_000)
    assert "novelty" in page.inner_text(".md-search-result__list").lower()
    assert heard["complaints"] == []
    assert all(sent.startswith(("file:", "data:", "blob:")) for sent in heard["requests"])
    page.close()


def test_a_tap_enlarges_a_picture_and_another_closes_it(browser, address):
    page, _ = opened(browser, address, "narrow")
    page.goto(f"{address}gallery.html")
    picture = page.locator("article img").first
    before = picture.bounding_box()["width"]
    picture.click()
    enlarged = page.locator("dialog.enlarged img")
    assert enlarged.bounding_box()["width"] > 2 * before
    enlarged.click()
    assert not page.locator("dialog.enlarged").is_visible()
    page.close()


def test_the_pictures_of_the_first_page_follow_its_colours(browser, address):
    seen = {}
    for view in ("light", "dark"):
        page, _ = opened(browser, address, view)
        page.goto(f"{address}index.html")
        assert page.locator(".panels svg").count() == 3
        sizes = "[...document.querySelectorAll('.panels figcaption')].map(c => getComputedStyle(c))"
        assert page.evaluate(f"Math.min(...{sizes}.map(s => parseFloat(s.fontSize)))") >= 12
        seen[view] = page.evaluate("getComputedStyle(document.querySelector('.panels .rows')).fill")
        page.close()
    assert seen["light"] != seen["dark"]


def test_dark_pages_are_dark_and_light_ones_light(browser, address):
    for view, is_dark in (("light", False), ("dark", True)):
        page, _ = opened(browser, address, view)
        page.goto(f"{address}explain/pieces.html")
        for selector, rule, dark in (
            ("body", "backgroundColor", is_dark),
            ("article p", "color", not is_dark),
            (".drawing svg text", "fill", not is_dark),
        ):
            asked = f"getComputedStyle(document.querySelector('{selector}')).{rule}"
            numbers = re.findall(r"[\d.]+", page.evaluate(asked))[:3]
            assert (sum(map(float, numbers)) / 3 < 128) is dark, (view, selector)
        page.close()
