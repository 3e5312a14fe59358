"""Put evidence, sentences and pictures into one self-contained HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from gfsvi.auto.fitted import Fitted
from gfsvi.pages import template
from gfsvi.report import charts, formatting, words
from gfsvi.report.case import prepared_table
from gfsvi.report.evidence import ClassificationResult, Effect, Evidence, RegressionOutput
from gfsvi.report.gathering import gather
from gfsvi.storage.files import write_text
from gfsvi.tables import PreparedTable

if TYPE_CHECKING:
    import pandas as pd

    from gfsvi.estimators.base import AbstractEstimator


def write_report(
    model: "Fitted | AbstractEstimator",
    frame: "pd.DataFrame",
    target: str | Sequence[str],
    path: str | Path,
    *,
    table: str | None = None,
    command: str | None = None,
) -> None:
    """Write the page about a fit, or a fitted estimator, and the table it learned from.

    `table` is what to call the table, `command` the command line that repeats the fit.
    """
    fitted: Fitted = getattr(model, "fitted_", model)
    targets = (target,) if isinstance(target, str) else tuple(target)
    rows = prepared_table(fitted, frame, targets)
    write_page(fitted, rows, path, targets=targets, table=table, command=command)


def write_page(
    fitted: Fitted,
    rows: PreparedTable,
    path: str | Path,
    *,
    targets: tuple[str, ...] = (),
    table: str | None = None,
    command: str | None = None,
) -> None:
    """Write the page about a fit and the prepared rows it learned from."""
    if fitted.preparation is not None:
        targets = fitted.preparation.target
    evidence = gather(fitted, rows, targets=targets, table=table, command=command)
    write_text(path, render(evidence))


def render(evidence: Evidence) -> str:
    """Render the page as HTML."""
    page = template.render(
        "gfsvi.report",
        "page.html.j2",
        evidence=evidence,
        words=words,
        formatting=formatting,
        pictures=_pictures(evidence),
    )
    return page.strip() + "\n"


def _pictures(evidence: Evidence) -> Pictures:
    labels, curve = evidence.labels, evidence.curve
    return Pictures(
        wiggliness=Markup(charts.wiggliness(evidence.prior)),
        novelty=Markup(charts.novelty(evidence.uncertainty)),
        learning=None if curve is None else Markup(charts.learning_curve(curve)),
        outputs=[
            _output_pictures(output, f"output{i}") for i, output in enumerate(evidence.outputs, 1)
        ],
        classes=None if labels is None else _class_pictures(labels),
    )


def _output_pictures(output: RegressionOutput, name: str) -> OutputPictures:
    return OutputPictures(
        predicted=Markup(charts.predicted_against_actual(output, name)),
        coverage=Markup(charts.coverage(output, name)),
        effects=_effects(output.effects, name, output.name),
    )


def _class_pictures(labels: ClassificationResult) -> ClassPictures:
    which = f" of {labels.classes[1]}" if len(labels.classes) == 2 else ""
    return ClassPictures(
        confusion=Markup(charts.confusion(labels)),
        reliability=Markup(charts.reliability(labels)),
        effects=_effects(labels.effects, "labels", f"probability{which}"),
    )


def _effects(effects: tuple[Effect, ...], name: str, y_label: str) -> list[Markup]:
    if not effects:
        return []
    limits = charts.effect_limits(effects)
    return [
        Markup(charts.effect(effect, f"{name}-effect{i + 1}", y_label, limits))
        for i, effect in enumerate(effects)
    ]
