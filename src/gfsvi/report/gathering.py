"""From a fitted estimator and its table to the evidence."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from gfsvi.report import words
from gfsvi.report.assumptions import columns_by_relevance, prior_evidence
from gfsvi.report.case import Case, build_case, intervals, thinned
from gfsvi.report.effects import effects_of_columns
from gfsvi.report.evidence import Curve, Doubt, Evidence, Finding, Row
from gfsvi.report.judging import classification_result, regression_outputs
from gfsvi.version import __version__

if TYPE_CHECKING:
    import pandas as pd

Teller = Callable[[int, int], tuple[str, str, str]]
_NUM_ROWS_SHOWN = 10
_NUM_COLUMNS_SHOWN = 3


def gather(
    estimator: Any,
    frame: "pd.DataFrame",
    target: str | Sequence[str],
    *,
    table: str | None = None,
    command: str | None = None,
) -> Evidence:
    """Everything the page tells of a fit and the table it learned from."""
    case = build_case(estimator, frame, target)
    prior = prior_evidence(case)
    columns = columns_by_relevance(case, prior)
    effects = effects_of_columns(case, columns)
    outputs, labels, joint = (), None, ()
    if case.is_classification:
        labels = classification_result(case, effects[0])
    else:
        outputs, joint = regression_outputs(case, effects)
    return Evidence(
        task="classification" if case.is_classification else "regression",
        targets=case.targets,
        table=table,
        num_rows=len(frame),
        num_columns=len(case.columns),
        num_judged=len(case.judged),
        judged_on_training=not case.held_out.any(),
        prior=prior,
        curve=_curve(estimator.history_),
        outputs=outputs,
        labels=labels,
        joint_scores=joint,
        doubt=_doubt(case, tuple(c.name for c in columns[:_NUM_COLUMNS_SHOWN])),
        notes=tuple(getattr(estimator.preparation_, "notes", ())),
        findings=_findings(estimator),
        settings=_settings(estimator.settings_),
        versions=_versions(),
        command=command,
    )


def _findings(estimator: Any) -> tuple[Finding, ...]:
    found = estimator.diagnostics_
    return tuple(Finding(d.severity, d.title, d.message, d.remedy) for d in found)


def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("gfsvi", __version__),
        ("jax", jax.__version__),
        ("numpy", np.__version__),
    )


def _curve(history: Any) -> Curve | None:
    objective = np.asarray(history.steps.get("objective", ()), np.float64)
    if not len(objective):  # closed form: nothing was trained
        return None
    scores = np.asarray(history.scores, np.float64)
    return Curve(objective, np.asarray(history.score_steps), scores, int(history.best_step))


def _settings(settings: Any) -> tuple[tuple[str, str], ...]:
    return tuple(
        (field.name.replace("_", " "), _setting(getattr(settings, field.name)))
        for field in dataclasses.fields(settings)
    )


def _setting(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(_setting, value)) or "none"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def _doubt(case: Case, columns: tuple[str, ...]) -> Doubt:
    rows = thinned(np.arange(len(case.x)))
    predictive = case.estimator.predict_distribution(case.x[rows])
    novelty = np.asarray(case.estimator.novelty(case.x[rows]), np.float64)
    spread = predictive.entropy if case.is_classification else predictive.std
    # Several outputs have several units: each is measured by its own usual spread.
    spread = np.reshape(np.asarray(spread), (len(rows), -1))
    spread = np.max(spread / np.maximum(np.median(spread, axis=0), 1e-300), axis=1)

    teller = _label_teller if case.is_classification else _number_teller
    tell = teller(case, predictive)

    def described(order: np.ndarray) -> tuple[Row, ...]:
        return tuple(
            _row(case, rows[i], columns, tell(i, rows[i]), float(novelty[i]))
            for i in order[:_NUM_ROWS_SHOWN]
        )

    least_sure = described(np.argsort(-spread, kind="stable"))
    most_novel = described(np.argsort(-novelty, kind="stable"))
    return Doubt(columns, least_sure, most_novel, novelty, len(rows))


def _row(
    case: Case, row: int, columns: tuple[str, ...], told: tuple[str, str, str], novelty: float
) -> Row:
    cells = tuple(words.cell(case.frame[column].iloc[row]) for column in columns)
    return Row(int(case.numbers[row]), cells, *told, novelty, bool(case.held_out[row]))


def _number_teller(case: Case, predictive: Any) -> Teller:
    """Actual, predicted and interval; several outputs side by side."""
    low, high = map(_rows_of, intervals(predictive))
    mean, observed = _rows_of(predictive.mean), _rows_of(case.y)

    def tell(i: int, row: int) -> tuple[str, str, str]:
        ranges = "; ".join(words.between(a, b) for a, b in zip(low[i], high[i], strict=True))
        actual = "; ".join(map(words.cell, observed[row]))
        return actual, words.listed_numbers(mean[i]), ranges

    return tell


def _label_teller(case: Case, predictive: Any) -> Teller:
    """Actual, predicted and how probable; of several classes also the second."""
    probabilities = np.asarray(predictive.probabilities)
    names = [words.shortened(name, 24) for name in case.classes]

    def tell(i: int, row: int) -> tuple[str, str, str]:
        first, second = np.argsort(-probabilities[i], kind="stable")[:2]
        told = words.percent(probabilities[i, first])
        if len(names) > 2:
            told += f", then {names[second]} {words.percent(probabilities[i, second])}"
        return names[int(case.y[row])], names[first], told

    return tell


def _rows_of(values: Any) -> np.ndarray:
    return np.reshape(np.asarray(values, np.float64), (len(values), -1))
