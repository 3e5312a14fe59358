"""The report of an experiment in a real browser: light, dark and narrow."""

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "results" / "regression" / "report.html"
VIEWS = {
    "light": {"viewport": {"width": 1300, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1300, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
}


@pytest.mark.parametrize("name", VIEWS)
def test_the_report_is_complete_in_every_view(browser, name):
    view = browser.new_page(**VIEWS[name])
    view.set_default_timeout(120_000)
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
