"""The report of an experiment in a real browser: light, dark and narrow."""

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
PAGE = Path(__file__).parents[2] / "results" / "regression" / "report.html"
VIEWS = {
    "light": {"viewport": {"width": 1300, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1300, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        if os.environ.get("GFSVI_REQUIRE_BROWSER"):
            pytest.fail("expected chromium, got none; install it or unset GFSVI_REQUIRE_BROWSER.")
        pytest.skip("no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.parametrize("name", VIEWS)
def test_the_report_is_whole_in_every_view(browser, name):
    view = browser.new_page(**VIEWS[name])
    complaints, requests = [], []
    view.on("console", lambda message: complaints.append(message.text))
    view.on("pageerror", lambda error: complaints.append(str(error)))
    view.on("request", lambda sent: requests.append(sent.url))
    view.goto(PAGE.as_uri())
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [PAGE.as_uri()]
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    sizes = view.evaluate(
        "[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().width)"
    )
    assert len(sizes) > 10 and min(sizes) > 100
    view.close()
