"""The page: evidence, words and pictures in one HTML file that asks for nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gfsvi.pages import template
from gfsvi.report import charts, words
from gfsvi.report.evidence import Effect, Evidence
from gfsvi.report.gathering import gather
from gfsvi.storage.files import write_text

if TYPE_CHECKING:
    import pandas as pd


def write_report(
    estimator: Any,
    frame: "pd.DataFrame",
    target: str | Sequence[str],
    path: str | Path,
    *,
    table: str | None = None,
    command: str | None = None,
) -> None:
    """Write the page of a fitted estimator and the table it learned from.

    `table` is what to call the table, `command` the command line that makes this fit again.
    """
    page = render(gather(estimator, frame, target, table=table, command=command))
    write_text(path, page)


def render(evidence: Evidence) -> str:
    """The page as HTML."""
    pictures = _pictures(evidence)
    page = template.render(
        "gfsvi.report", "page.html.j2", evidence=evidence, words=words, pictures=pictures
    )
    return page.strip() + "\n"


def _pictures(evidence: Evidence) -> dict[str, Any]:
    """SVG by name; charts escape what they show."""
    drawn: dict[str, Any] = {
        "relevance": Markup(charts.relevance(evidence.prior)),
        "novelty": Markup(charts.novelty(evidence.doubt)),
        "learning": Markup(charts.learning_curve(evidence.curve)) if evidence.curve else None,
        "outputs": [],
    }
    for i, output in enumerate(evidence.outputs):
        name = f"output{i + 1}"
        drawn["outputs"].append(
            {
                "predicted": Markup(charts.predicted_against_actual(output, name)),
                "coverage": Markup(charts.coverage(output, name)),
                "effects": _effects(output.effects, name, output.name),
            }
        )
    if evidence.labels is not None:
        labels = evidence.labels
        y_label = f"probability of {labels.classes[1]}"
        drawn["confusion"] = Markup(charts.confusion(labels))
        drawn["reliability"] = Markup(charts.reliability(labels))
        drawn["effects"] = _effects(
            labels.effects, "labels", y_label if len(labels.classes) == 2 else "probability"
        )
    return drawn


def _effects(effects: tuple[Effect, ...], name: str, y_label: str) -> list[Markup]:
    if not effects:
        return []
    limits = charts.effect_limits(effects)
    return [
        Markup(charts.effect(effect, f"{name}-effect{i + 1}", y_label, limits))
        for i, effect in enumerate(effects)
    ]
