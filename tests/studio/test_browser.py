"""The studio in a real browser, served by a real server."""

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIRegressor
from gfsvi.auto.units import in_model_units
from gfsvi.studio.building import kernel_of, plain_kernel
from gfsvi.studio.workspace import Workspace

SCRIPT = "<script>alert(1)</script>"
WIDE = {"viewport": {"width": 1360, "height": 860}}
NARROW = {"viewport": {"width": 390, "height": 844}}
# The smallest text on the page, in pixels, where text is shown.
SMALLEST = """() => Math.min(...[...document.querySelectorAll('body *')]
    .filter(e => e.checkVisibility()
        && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
# Whether the picture of the prior is another one.
CHANGED = "before => document.getElementById('canvas-prior').toDataURL() !== before"
# Elements that can be used and have no name for those who cannot see them.
NAMELESS = """() => [...document.querySelectorAll('button, input, select, textarea, canvas[role]')]
    .filter(e => e.checkVisibility() && !(e.getAttribute('aria-label') || e.textContent.trim()
        || e.labels?.length || e.title)).map(e => e.outerHTML)"""


class Page:
    """A page of the studio, and what the browser heard."""

    def __init__(self, browser: Any, address: str, **settings: Any):
        self.context = browser.new_context(accept_downloads=True, **settings)
        self.context.set_default_timeout(120_000)
        self.view = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.view.on("console", lambda message: self.complaints.append(message.text))
        self.view.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.view.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.view.on("request", lambda sent: self.requests.append(sent.url))
        self.address = address
        self.view.goto(address)
        self.view.wait_for_selector("body[data-ready]")
        self.settled()

    def settled(self) -> None:
        """Wait until everything is drawn with care."""
        self.view.wait_for_function(
            "() => document.body.dataset.drawn === document.body.dataset.revision"
            " && document.body.dataset.rest === 'true'"
        )

    def press(self, selector: str) -> None:
        """Click on something that changes the workspace, and wait until that is drawn."""
        before = self.revision
        self.view.click(selector)
        self.moved_from(before)

    @property
    def revision(self) -> int:
        return int(self.view.evaluate("document.body.dataset.revision"))

    def moved_from(self, revision: int) -> None:
        """Wait until the workspace is another than it was, and drawn."""
        self.view.wait_for_function(
            "(r) => Number(document.body.dataset.revision) > r", arg=revision
        )
        self.settled()

    def picture(self, name: str) -> str:
        return self.view.evaluate(f"document.getElementById('canvas-{name}').toDataURL()")

    @property
    def workspace(self) -> dict[str, Any]:
        script = "async () => (await import('./store.js')).store.workspace"
        return self.view.evaluate(script)

    @property
    def said(self) -> str:
        return self.view.inner_text("#sentences").replace("\N{NO-BREAK SPACE}", " ")

    def drag(self, selector: str, share: float, rest: int = 0) -> list[str]:
        """Move a slider by its thumb, with a rest on the way; return the pictures."""
        from playwright.sync_api import TimeoutError as Unchanged

        box = self.view.locator(selector).bounding_box()
        y = box["y"] + box["height"] / 2
        at = float(self.view.eval_on_selector(selector, "e => e.value / e.max"))
        self.view.mouse.move(box["x"] + 8 + at * (box["width"] - 16), y)
        self.view.mouse.down()
        seen = [self.picture("prior")]
        for step in np.linspace(at, share, 6)[1:]:
            self.view.mouse.move(box["x"] + 8 + step * (box["width"] - 16), y)
            with contextlib.suppress(Unchanged):
                self.view.wait_for_function(CHANGED, arg=seen[-1], timeout=10_000)
            seen.append(self.picture("prior"))
            if len(seen) == 3:
                self.view.wait_for_timeout(rest)
        self.view.mouse.up()
        self.settled()
        return seen[1:]

    def checked(self) -> None:
        """The console is empty, and no request has left the studio."""
        assert self.complaints == []
        own = (self.address, "data:", "blob:", f"blob:{self.address}")
        assert [url for url in self.requests if not url.startswith(own)] == []


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    opened = Page(browser, address, **WIDE)
    yield opened
    opened.checked()
    opened.context.close()


def level(years: np.ndarray) -> np.ndarray:
    """A rise and a season that is not a sine."""
    season = 3 * np.sin(2 * np.pi * years) + 0.8 * np.cos(4 * np.pi * years)
    return 354 + 1.5 * years + season


def co2(folder: Path) -> Path:
    """Twelve years of a rising level with a season, as the observatory writes its dates."""
    days = pd.date_range("1990-01-06", periods=12 * 52, freq="7D")
    years = np.arange(len(days)) * 7 / 365.2425
    observed = level(years) + 0.3 * np.random.default_rng(0).normal(size=len(days))
    path = folder / "co2.csv"
    table = {"date": days.strftime("%Y%m%d").astype(int), "co2": observed.round(1)}
    pd.DataFrame(table).to_csv(path, index=False)
    return path


def open_table(page: Page, path: Path) -> None:
    page.view.click("#tab-data")
    page.view.set_input_files("#file", path)
    page.view.wait_for_selector("#target")
    page.view.wait_for_selector("label.button:has-text('choose a file')")
    page.settled()


def test_from_a_seasonal_prior_over_data_to_code_that_has_the_same_prior(
    page, tmp_path, monkeypatch
):
    view = page.view
    page.press("#preset-seasonal_with_trend")
    assert "repeats periodically, in a shape that drifts slowly" in page.said
    before = page.said
    seen = page.drag("#lengthscale-0-0", 0.25)
    assert len(set(seen)) >= 3  # it moved while it was dragged
    assert page.said != before
    open_table(page, co2(tmp_path))
    assert (
        "Along date, one repeats periodically" in page.said
        and "a period of 1 year in date" in page.said
    )
    assert season_continued(page) > 0.95
    view.click("#tab-out")
    view.wait_for_function(
        "() => document.getElementById('code').textContent.includes('fit_table')"
    )
    kernel, target = prior_of_code(view.inner_text("#code"), tmp_path, monkeypatch)
    read = Workspace.read(page.workspace)
    x = read.scale.inputs(read.x)
    found = plain_kernel(in_model_units(kernel, read.scale.features)).gram(x)
    np.testing.assert_allclose(found, plain_kernel(kernel_of(read)).gram(x), rtol=1e-8)
    assert target == "co2"


def season_continued(page: Page) -> float:
    """How the network's mean of the year after the last row correlates with what will be."""
    content = {**page.workspace}
    content["view"] |= {"low": 12.0 * 365.2425, "high": 13.0 * 365.2425}
    script = (
        "async (w) => (await import('./server.js')).post('look', {workspace: w, at_rest: true})"
    )
    shown = page.view.evaluate(script, content)
    years = np.array(shown["along"]) / 365.2425
    both = [np.array(shown["network"]["mean"]), level(years)]
    without_trend = [one - np.polyval(np.polyfit(years, one, 1), years) for one in both]
    return float(np.asarray(np.corrcoef(without_trend))[0, 1])


def prior_of_code(code: str, folder: Path, monkeypatch: Any) -> tuple[Any, str]:
    """The kernel that the exported code fits with, and its target."""
    found: list[Any] = []

    def fit_table(self: Any, table: pd.DataFrame, target: str) -> None:
        found.extend((self.kernel, target))

    for name, stub in (("fit_table", fit_table), ("save", print), ("report", print)):
        monkeypatch.setattr(GFSVIRegressor, name, stub if name == "fit_table" else lambda *_: None)
    monkeypatch.chdir(folder)
    exec(compile(code, "prior.py", "exec"), {})
    assert all(isinstance(leaf, float) for leaf in jax.tree.leaves(in_units(found[0])))
    return found[0], found[1]


def in_units(kernel: Any) -> Any:
    from gfsvi.auto.units import Feature

    return in_model_units(kernel, (Feature("date", "date", 1.0, True),))


def click(page: Page, x: float, y: float) -> None:
    """Click at a share of the first picture."""
    before = page.revision
    box = page.view.locator("#canvas-prior").bounding_box()
    place = {"x": x * box["width"], "y": y * box["height"]}
    page.view.locator("#canvas-prior").click(position=place)
    page.moved_from(before)


def test_points_are_clicked_removed_and_undone(page):
    view = page.view
    places = ((0.3, 0.4), (0.5, 0.3), (0.7, 0.6))
    for x, y in places:
        click(page, x, y)
    assert len(page.workspace["rows"]["y"]) == 3
    assert (
        view.locator("#figure-exact").is_visible() and view.locator("#figure-network").is_visible()
    )
    click(page, *places[2])
    assert len(page.workspace["rows"]["y"]) == 2
    view.keyboard.press("Control+z")
    assert len(page.workspace["rows"]["y"]) == 3
    for _ in range(3):
        view.keyboard.press("Control+z")
    page.settled()
    assert page.workspace["rows"]["y"] == [] and not view.locator("#figure-exact").is_visible()
    view.keyboard.press("Control+Shift+z")
    assert len(page.workspace["rows"]["y"]) == 1


def test_a_slider_that_was_dragged_is_undone_in_one_step(page):
    before = page.workspace["terms"]
    page.drag("#lengthscale-0-0", 0.7, rest=1000)
    assert page.workspace["terms"] != before
    page.press("#undo")
    assert page.workspace["terms"] == before


def test_blocks_are_added_multiplied_and_removed_by_hand(page):
    view = page.view
    view.click("text=+ add a block")
    view.locator("text=× multiply").nth(1).click()
    view.locator("select[aria-label='kind of block']").nth(2).select_option("periodic")
    page.settled()
    terms = page.workspace["terms"]
    assert [[f["family"] for f in t["factors"]] for t in terms] == [
        ["matern52"],
        ["matern52", "periodic"],
    ]
    amount = view.locator("#period-1-1 + input")
    amount.fill("2.5")
    amount.press("Enter")
    page.settled()
    assert page.workspace["terms"][1]["factors"][1]["values"]["period"] == 2.5
    assert "a period of 2.50 in x" in page.said
    amount.fill("nonsense")
    amount.press("Enter")
    assert page.workspace["terms"][1]["factors"][1]["values"]["period"] == 2.5
    page.press("[aria-label='remove part 1']")
    assert len(page.workspace["terms"]) == 1


def test_a_saved_workspace_opens_again_in_another_tab(page, browser, address, tmp_path):
    open_table(page, co2(tmp_path))
    page.view.click("#tab-out")
    with page.view.expect_download() as saved:
        page.view.click("#save")
    saved.value.save_as(tmp_path / "prior.studio.json")
    other = Page(browser, address, **WIDE)
    assert other.workspace["source"]["kind"] == "none"  # tabs have workspaces of their own
    other.view.click("#tab-out")
    other.view.set_input_files("#workspace-file", tmp_path / "prior.studio.json")
    other.view.wait_for_function(
        "() => document.getElementById('sentences').textContent.includes('co2')"
    )
    other.settled()
    assert other.workspace == page.workspace == json.loads(saved.value.path().read_text())
    assert other.said == page.said
    other.press("#preset-rough")
    page.press("#again")
    assert "can be rough" in other.said and "can be rough" not in page.said
    other.checked()
    other.context.close()


@pytest.mark.parametrize("content", ["no json", '{"format": 9}', "[1]"])
def test_another_file_is_no_workspace_and_says_so(page, tmp_path, content):
    before = page.workspace
    (tmp_path / "a.json").write_text(content)
    page.view.click("#tab-out")
    page.view.set_input_files("#workspace-file", tmp_path / "a.json")
    page.view.wait_for_selector("#complaint:not([hidden])")
    assert "expect" in page.view.inner_text("#complaint")
    assert page.workspace == before


def test_hostile_names_stay_text(page, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        random.normal(size=(30, 3)), columns=[SCRIPT, "<img src=x onerror=alert(2)>", "`y`"]
    )
    frame["text"] = random.choice(["<b>bold</b>", "`code`"], 30)
    frame.to_csv(tmp_path / "<b>table.csv", index=False)
    open_table(page, tmp_path / "<b>table.csv")
    view = page.view
    assert SCRIPT in view.inner_text("#look") and "<b>table.csv" in view.inner_text("#sheet-data")
    for name in ("prior", "data", "network", "questions", "out"):
        view.click(f"#tab-{name}")
    view.wait_for_function(
        "() => document.getElementById('code').textContent.includes('fit_table')"
    )
    assert (
        view.evaluate("document.querySelectorAll('main img, main b, main i, main script').length")
        == 0
    )
    assert "repr" not in view.inner_text("#code") and SCRIPT in view.inner_text("#look")


def test_bad_tables_get_one_sentence_on_the_page(page):
    page.view.click("#tab-data")
    page.view.click("text=or paste one")
    page.view.fill("#paste", "a,b\n1,2,3\n")
    page.view.click("#use-paste")
    page.view.wait_for_selector("#complaint:not([hidden])")
    assert page.view.inner_text("#complaint").startswith("expected 2 values in every row")


def test_a_pasted_table_with_many_columns_is_looked_at_in_slices(page):
    random = np.random.default_rng(0)
    a, b, town = (
        random.uniform(0, 10, 80),
        random.uniform(0, 5, 80),
        random.choice(["Bonn", "Celle"], 80),
    )
    y = np.sin(a) + b + 2 * (town == "Bonn")
    view = page.view
    view.click("#tab-data")
    view.click("text=or paste one")
    table = pd.DataFrame({"a": a, "b": b, "town": town, "y": y})
    view.fill("#paste", table.to_csv(index=False, sep="\t"))
    view.click("#use-paste")
    view.wait_for_selector("#target")
    view.wait_for_selector("label.button:has-text('choose a file')")
    page.settled()
    assert page.workspace["view"]["column"] == "a"
    before = page.picture("exact")
    view.locator("#look input[aria-label='b']").press("PageUp")
    view.locator("#look input[aria-label='b']").press("PageUp")
    page.settled()
    assert page.workspace["view"]["at"]["b"] > 2.5 and page.picture("exact") != before
    view.locator("#look select").nth(1).select_option("Celle")
    page.settled()
    view.locator("#look select").nth(0).select_option("town")
    page.settled()
    assert page.workspace["view"]["column"] == "town"


def test_the_network_questions_and_fields_work(page):
    view = page.view
    view.fill("#lengthscale-0-0 + input", "0.8")
    view.press("#lengthscale-0-0 + input", "Enter")
    view.click("#tab-network")
    view.wait_for_function(
        "() => document.getElementById('verdict').textContent.includes('can follow')"
    )
    for layer in (1, 2):
        view.fill(f"[aria-label='width of layer {layer}']", "2")
        view.press(f"[aria-label='width of layer {layer}']", "Enter")
    view.wait_for_function(
        "() => document.getElementById('verdict').textContent.includes('cannot')"
    )
    view.click("#tab-questions")
    view.wait_for_selector(".function")
    for _ in range(2):
        view.locator(".function").nth(1).click()
        shown = view.inner_text("#belief")
        view.click("#answer")
        view.wait_for_function(
            "(b) => document.getElementById('belief').innerText !== b", arg=shown
        )
    before = page.workspace["terms"]
    page.press("#use-belief")
    assert page.workspace["terms"] != before
    page.press("#preset-flow")
    assert "no divergence" in page.said
    box = view.locator("#canvas-prior").bounding_box()
    view.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    view.mouse.down()
    view.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 0.4 * box["height"])
    view.mouse.up()
    page.settled()
    ((u, v),) = page.workspace["rows"]["y"]
    assert u > 0 and v > 0 and view.locator("#figure-exact").is_visible()
    view.click("#tab-prior")
    page.press("text=back to functions")
    assert page.workspace["kind"] == "function"


@pytest.mark.parametrize(
    ("settings", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide", "narrow"]
)
def test_the_page_is_readable_in_every_view(browser, address, settings, scheme, tmp_path):
    page = Page(browser, address, **settings, color_scheme=scheme)
    open_table(page, co2(tmp_path))
    for name in ("prior", "data", "network", "questions", "out"):
        page.view.click(f"#tab-{name}")
        page.view.wait_for_timeout(150)
        assert page.view.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        assert page.view.evaluate(SMALLEST) >= 12, name
        assert page.view.evaluate(NAMELESS) == []
    light = page.view.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", light)[:3])) / 3
    assert (lightness > 240) if scheme == "light" else (lightness < 40)
    page.view.keyboard.press("t")  # the page's own choice wins
    assert page.view.evaluate("document.documentElement.dataset.theme") == "light"
    page.checked()
    page.context.close()


def test_keys_alone_suffice(page):
    view = page.view
    for number, name in enumerate(("prior", "data", "network", "questions", "out"), 1):
        view.keyboard.press(str(number))
        assert view.locator(f"#sheet-{name}").is_visible()
    view.keyboard.press("1")
    before = page.workspace
    view.focus("#lengthscale-0-0")
    view.keyboard.press("ArrowRight")
    page.settled()
    assert page.workspace["terms"] != before["terms"]
    view.keyboard.press("r")
    view.keyboard.press("+")
    page.settled()
    assert page.workspace["view"]["seed"] == 1 and page.workspace["view"]["high"] < 10
    view.keyboard.press("?")
    assert view.locator("#keys").is_visible()


def test_the_workspace_survives_a_reload(page):
    page.press("#preset-seasonal")
    before = page.workspace
    page.view.reload()
    page.view.wait_for_selector("body[data-ready]")
    page.settled()
    assert page.workspace == before


def test_the_page_says_when_the_server_is_gone(browser):
    from gfsvi.studio.server import Studio
    from gfsvi.studio.serving import in_background

    with in_background(Studio()) as address:
        page = Page(browser, address, **WIDE)
        assert not page.view.locator("#gone").is_visible()
    page.view.click("#again")
    page.view.wait_for_selector("#gone:not([hidden])")
    assert "server is gone" in page.view.inner_text("#gone")
    page.context.close()


@pytest.mark.slow
def test_the_real_record_of_carbon_dioxide(page, tmp_path, monkeypatch):
    real = Path(os.environ.get("GFSVI_DATA", "")) / "science/co2.csv"
    if not real.exists():
        pytest.skip("no science/co2.csv below GFSVI_DATA")
    page.press("#preset-seasonal_with_trend")
    open_table(page, real)
    assert "a period of 1 year in date" in page.said
    assert "sample of 400 of 2225 rows" in page.view.inner_text("#sample")
    page.view.click("#tab-out")
    page.view.wait_for_function(
        "() => document.getElementById('code').textContent.includes('fit_table')"
    )
    (tmp_path / "co2.csv").write_bytes(real.read_bytes())
    kernel, target = prior_of_code(page.view.inner_text("#code"), tmp_path, monkeypatch)
    read = Workspace.read(page.workspace)
    x = read.scale.inputs(read.x)
    found = plain_kernel(in_model_units(kernel, read.scale.features)).gram(x)
    np.testing.assert_allclose(found, plain_kernel(kernel_of(read)).gram(x), rtol=1e-8)
    assert target == "co2"


@pytest.mark.slow
def test_a_full_fit_shows_progress_is_stopped_and_its_report_opens(page):
    random = np.random.default_rng(0)
    x = random.uniform(0, 10, 60)
    table = pd.DataFrame({"x": x, "y": np.sin(x)}).to_csv(index=False)
    view = page.view
    view.click("#tab-data")
    view.click("text=or paste one")
    view.fill("#paste", table)
    view.click("#use-paste")
    view.wait_for_selector("#target")
    page.settled()
    view.click("#tab-out")
    view.click("#fit")
    view.wait_for_selector("#stop")
    view.click("#stop")
    view.wait_for_selector("#report", timeout=240_000)
    with page.context.expect_page() as opened:
        view.click("#report")
    opened.value.wait_for_load_state()
    assert "pasted.csv" in opened.value.inner_text("body")
    assert opened.value.evaluate("document.scripts.length") == 0
