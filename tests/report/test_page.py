"""The page as text."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from gfsvi.auto.composition import Composition
from gfsvi.pages.template import marked
from gfsvi.report import render, write_report
from gfsvi.report.evidence import Evidence, Finding


def test_the_page_is_the_same_every_time(evidence: Evidence, pages: dict[str, Path]) -> None:
    assert render(evidence) == pages["regression"].read_text(encoding="utf-8")


def test_names_from_the_table_stay_text(pages: dict[str, Path]) -> None:
    page = pages["regression"].read_text(encoding="utf-8")
    assert "<script" not in page and "<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "second $x^2$" in page  # not turned into a formula


def test_ids_are_used_once_and_links_lead_somewhere(pages: dict[str, Path]) -> None:
    for page in (path.read_text(encoding="utf-8") for path in pages.values()):
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        linked = re.findall(r'href="#([^"]+)"', page) + re.findall(r"url\(#([^)]+)\)", page)
        assert linked and set(linked) <= set(ids)


def test_every_picture_has_a_title(pages: dict[str, Path]) -> None:
    page = pages["classification"].read_text(encoding="utf-8")
    titles = re.findall(r"<svg[^>]*role=\"img\"[^>]*><title id=[^>]*>[^<]+</title>", page)
    assert len(titles) == page.count("<svg") == 6 + 8


def test_pictures_follow_the_colours_of_the_page(pages: dict[str, Path]) -> None:
    page = pages["regression"].read_text(encoding="utf-8")
    svg = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert "var(--blue)" in svg and not re.search(r"#[0-9a-f]{6}\b", svg)


def test_nothing_is_fetched(pages: dict[str, Path]) -> None:
    for page in (path.read_text(encoding="utf-8") for path in pages.values()):
        assert "default-src 'none'" in page
        outside = re.sub(r'xmlns(:xlink)?="[^"]+"', "", page)
        assert "http:" not in outside and "https:" not in outside


def test_settings_versions_and_command_are_told(pages: dict[str, Path]) -> None:
    page = pages["regression"].read_text(encoding="utf-8")
    for told in ("gfsvi fit diabetes.csv --target target", np.__version__, "num points", "1e-10"):
        assert told in page


def test_warnings_come_first_and_healthy_fits_say_so(brief: Evidence) -> None:
    page = render(brief)
    assert page.index("1 warning.") < page.index('id="scores"')
    assert "Raise <code>num_steps</code>." in page
    healthy = render(dataclasses.replace(brief, findings=()))
    assert "The checks found no problems" in healthy and 'callout"' not in healthy


def test_the_page_says_what_share_builds_on_trees_where_it_describes_the_prior(
    brief: Evidence,
) -> None:
    page = render(dataclasses.replace(brief, composition=Composition(0.4, "trees")))
    prior = page[page.index('id="prior"') : page.index('id="predictions"')]
    assert "learns what trees leave unexplained" in prior and "40\N{NO-BREAK SPACE}%" in prior
    assert "trees" not in render(brief)


def test_a_warning_shows_its_numbers_and_the_next_command_at_the_top(brief: Evidence) -> None:
    command = "gfsvi fit table.csv --target y --method exact_gp"
    finding = Finding("warning", "Worse than guessing", "72 % more error", "Try another.", command)
    page = render(dataclasses.replace(brief, findings=(finding,)))
    top = page[: page.index('id="scores"')]
    assert all(text in top for text in ("Worse than guessing", "72 % more error", command))


def test_findings_are_escaped(brief: Evidence) -> None:
    finding = Finding("warning", "<i>t</i>", "`<i>m</i>`", "<i>r</i>")
    assert "<i>" not in render(dataclasses.replace(brief, findings=(finding,)))


def test_the_page_says_how_many_columns_it_leaves_out(pages: dict[str, Path]) -> None:
    assert "The 9 columns that predictions depend on most are shown, of 11." in pages[
        "regression"
    ].read_text(encoding="utf-8")
    assert "columns are shown" not in pages["classification"].read_text(encoding="utf-8")


def test_a_closed_form_has_no_learning_curve(brief: Evidence) -> None:
    page = render(dataclasses.replace(brief, curve=None))
    assert "closed form" in page and "learning-title" not in page


def test_several_outputs_have_a_section_each(several_evidence: Evidence) -> None:
    page = render(several_evidence)
    for i, name in enumerate(several_evidence.targets, 1):
        assert f"<h3><code>{name}</code></h3>" in page and f"output{i}-coverage-title" in page


def test_a_user_style_changes_neither_the_page_nor_is_changed(brief: Evidence) -> None:
    page = render(brief)
    with mpl.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red"}):
        assert render(brief) == page
        assert mpl.rcParams["lines.linewidth"] == 9.0


@pytest.mark.parametrize(
    ("sentence", "page"),
    [("`a<b` & c", "<code>a&lt;b</code> &amp; c"), ("it`s", "it`s"), ("", "")],
)
def test_backticks_mark_code(sentence: str, page: str) -> None:
    assert marked(sentence) == page


def test_writing_leaves_one_file(regression: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    fitted, frame, target = regression
    estimator: Any = SimpleNamespace(fitted_=fitted)
    write_report(estimator, frame, target, path, table="t.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_importing_the_library_leaves_the_report_alone() -> None:
    code = "import sys, gfsvi; print({'matplotlib', 'jinja2', 'gfsvi.report'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
