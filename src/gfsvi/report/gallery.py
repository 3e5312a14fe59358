"""All pictures of a page, as SVG; charts escape the names that they show."""

import dataclasses

from markupsafe import Markup

from gfsvi.report import bars, charts, effect_charts
from gfsvi.report.evidence import ClassificationResult, Effect, Evidence, RegressionOutput


@dataclasses.dataclass(frozen=True)
class OutputPictures:
    """The pictures of one numeric target."""

    predicted: Markup
    coverage: Markup
    effects: list[Markup]


@dataclasses.dataclass(frozen=True)
class ClassPictures:
    """The pictures of a classification, and the colours of the classes in those of effects."""

    confusion: Markup
    reliability: Markup
    effects: list[Markup]
    legend: list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Pictures:
    """The pictures of a page; the task decides between `outputs` and `classes`."""

    importance: list[Markup]
    length_scales: Markup
    novelty: Markup
    learning: Markup | None
    outputs: list[OutputPictures]
    classes: ClassPictures | None
    seasons: list[list[Markup]]


def draw_pictures(evidence: Evidence) -> Pictures:
    """Draw every picture of the page."""
    labels, curve = evidence.labels, evidence.curve
    return Pictures(
        importance=[
            Markup(bars.importance(evidence.importance, k, f"importance{k + 1}"))
            for k in range(max(1, len(evidence.outputs)))
        ],
        length_scales=Markup(bars.length_scales(evidence.prior)),
        novelty=Markup(charts.novelty(evidence.uncertainty)),
        learning=None if curve is None else Markup(charts.learning_curve(curve)),
        outputs=[
            _output_pictures(output, f"output{i}") for i, output in enumerate(evidence.outputs, 1)
        ],
        classes=None if labels is None else _class_pictures(labels),
        seasons=[
            _seasons(effects, f"output{i}", output.name)
            for i, (effects, output) in enumerate(
                zip(evidence.seasons, evidence.outputs, strict=False), 1
            )
        ],
    )


def _seasons(effects: tuple[Effect, ...], name: str, y_label: str) -> list[Markup]:
    """Trend and seasons, which are of different size: each has its own limits."""
    return [
        Markup(
            effect_charts.effect(
                effect, f"{name}-season{i}", y_label, effect_charts.effect_limits([effect])
            )
        )
        for i, effect in enumerate(effects, 1)
    ]


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
        legend=_legend(labels),
    )


def _legend(labels: ClassificationResult) -> list[tuple[str, str]]:
    """The colours of several classes that effects show, and their names."""
    lines = labels.effects[0].lines if labels.effects else ()
    pairs = zip(effect_charts.COLOUR_NAMES, lines, strict=False)
    return [(colour, line.label) for colour, line in pairs] if len(lines) > 1 else []


def _effects(effects: tuple[Effect, ...], name: str, y_label: str) -> list[Markup]:
    if not effects:
        return []
    limits = effect_charts.effect_limits(effects)
    return [
        Markup(effect_charts.effect(effect, f"{name}-effect{i}", y_label, limits))
        for i, effect in enumerate(effects, 1)
    ]
