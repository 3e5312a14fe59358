"""Gather the evidence from a fitted estimator and its table."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import jax
import numpy as np

from gfsvi.auto.composition import composition
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.quality import next_command
from gfsvi.predictives import CategoricalPredictive
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.report import formatting
from gfsvi.report.assumptions import prior_evidence
from gfsvi.report.case import Case, build_case, intervals, thinned
from gfsvi.report.effects import effects_of_columns
from gfsvi.report.evidence import Curve, Evidence, Finding, Row, Uncertainty
from gfsvi.report.judging import classification_result, regression_outputs
from gfsvi.report.predictions import by_output
from gfsvi.report.trend import trend_and_seasons
from gfsvi.tables import PreparedTable
from gfsvi.training.history import History
from gfsvi.version import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Describes a row, given its position in the predictive and in the table.
Describer = Callable[[int, int], tuple[str, str, str]]
_NUM_ROWS_SHOWN = 10
_NUM_COLUMNS_SHOWN = 3


def gather(
    fitted: Fitted,
    rows: PreparedTable,
    *,
    targets: tuple[str, ...],
    table: str | None = None,
    command: str | None = None,
    weights: np.ndarray | None = None,
) -> Evidence:
    """Gather everything the page says about a fit and its training table."""
    case = build_case(fitted, rows, targets, weights)
    prior = prior_evidence(case)
    importance = fitted.importance(case.x, weights=case.weights)
    by_name = {column.name: column for column in case.columns}
    columns = tuple(by_name[importance.columns[i]] for i in importance.order)
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
        num_rows=len(rows.usable),
        num_columns=len(case.columns),
        num_judged=len(case.judged),
        num_held_out=int(np.sum(case.held_out)),
        judged_on=case.judged_on,
        are_learned=fitted.first_predictions is not None,
        time_column=None if case.time_order is None else case.time_order.column,
        prior=prior,
        importance=importance,
        curve=_curve(fitted.history),
        outputs=outputs,
        labels=labels,
        joint_scores=joint,
        uncertainty=_uncertainty(case, tuple(c.name for c in columns[:_NUM_COLUMNS_SHOWN])),
        notes=() if fitted.preparation is None else fitted.preparation.notes,
        findings=_findings(fitted, command),
        settings=_settings(fitted.settings),
        versions=_versions(),
        command=command,
        seasons=() if case.is_classification else trend_and_seasons(case),
        composition=composition(fitted.posterior.function),
    )


def _findings(fitted: Fitted, command: str | None) -> tuple[Finding, ...]:
    return tuple(
        Finding(d.severity, d.title, d.message, d.remedy, command and next_command(command, d))
        for d in fitted.diagnostics
    )


def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("gfsvi", __version__),
        ("jax", jax.__version__),
        ("numpy", np.__version__),
    )


def _curve(history: History) -> Curve | None:
    objective = np.asarray(history.steps.get("objective", ()), np.float64)
    if not len(objective):  # a closed form, without training
        return None
    scores = np.asarray(history.scores, np.float64)
    return Curve(objective, np.asarray(history.score_steps), scores, int(history.best_step))


def _settings(settings: "DataclassInstance") -> tuple[tuple[str, str], ...]:
    return tuple(
        (field.name.replace("_", " "), _setting(getattr(settings, field.name)))
        for field in dataclasses.fields(settings)
    )


def _setting(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(_setting, value)) or "none"
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def _uncertainty(case: Case, columns: tuple[str, ...]) -> Uncertainty:
    rows = thinned(np.arange(len(case.x)))
    predictive = case.fitted.predict(case.x[rows])
    novelty = np.asarray(case.fitted.novelty(case.x[rows]), np.float64)
    if case.is_classification:
        spread = cast(CategoricalPredictive, predictive).entropy
    else:
        spread = cast(AbstractRealPredictive, predictive).std
    # Outputs have different units, so each spread is divided by its median.
    spread = by_output(spread)
    spread = np.max(spread / np.maximum(np.median(spread, axis=0), 1e-300), axis=1)

    describer = _label_describer if case.is_classification else _number_describer
    describe = describer(case, predictive)

    def described(order: np.ndarray) -> tuple[Row, ...]:
        return tuple(
            _row(case, rows[i], columns, describe(i, rows[i]), float(novelty[i]))
            for i in order[:_NUM_ROWS_SHOWN]
        )

    most_uncertain = described(np.argsort(-spread, kind="stable"))
    most_novel = described(np.argsort(-novelty, kind="stable"))
    return Uncertainty(columns, most_uncertain, most_novel, novelty, len(rows))


def _row(
    case: Case,
    row: int,
    columns: tuple[str, ...],
    description: tuple[str, str, str],
    novelty: float,
) -> Row:
    cells = tuple(_cell(case, column, row) for column in columns)
    return Row(int(case.numbers[row]), cells, *description, novelty, bool(case.held_out[row]))


def _cell(case: Case, name: str, row: int) -> str:
    """A cell as the user would write it; dates may be stored as numbers."""
    column = next(column for column in case.columns if column.name == name)
    if column.first_day is None or case.frame[name].dtype.kind not in "iuf":
        return formatting.cell(case.frame[name].iloc[row])
    passed = np.timedelta64(round(case.x[row, column.features[0]] * 86_400), "s")
    return formatting.cell(np.datetime64(column.first_day, "s") + passed)


def _number_describer(case: Case, predictive: AbstractRealPredictive) -> Describer:
    """Describe rows by actual value, prediction and interval of every output."""
    low, high = map(by_output, intervals(predictive))
    mean, observed = by_output(predictive.mean), by_output(case.y)

    def describe(i: int, row: int) -> tuple[str, str, str]:
        ranges = "; ".join(formatting.between(a, b) for a, b in zip(low[i], high[i], strict=True))
        actual = "; ".join(map(formatting.cell, observed[row]))
        errors = (high[i] - low[i]) / 4
        return actual, "; ".join(map(formatting.beside, mean[i], errors)), ranges

    return describe


def _label_describer(case: Case, predictive: CategoricalPredictive) -> Describer:
    """Describe rows by actual class, prediction and probability, with the runner-up if any."""
    probabilities = np.asarray(predictive.probabilities)
    names = [formatting.shortened(name, 24) for name in case.classes]

    def describe(i: int, row: int) -> tuple[str, str, str]:
        first, second = np.argsort(-probabilities[i], kind="stable")[:2]
        probable = formatting.percent(probabilities[i, first])
        if len(names) > 2:
            probable += f", then {names[second]} {formatting.percent(probabilities[i, second])}"
        return names[int(case.y[row])], names[first], probable

    return describe
