"""The evidence that is computed from a fit and its table."""

import dataclasses
from typing import Any

import numpy as np

from gfsvi.kernels import Linear, Matern32, Periodic
from gfsvi.report.assumptions import prior_evidence
from gfsvi.report.case import Case, build_case, thinned
from gfsvi.report.evidence import Evidence
from gfsvi.report.formatting import cell


def case_of(fitted: Any, frame: Any) -> Case:
    preparation = fitted.preparation
    return build_case(fitted, preparation.prepare(frame), preparation.target)


def test_the_model_is_judged_on_held_out_rows(evidence: Evidence) -> None:
    assert evidence.num_judged == 44 and evidence.judged_on == "held_out"


def test_the_baseline_predicts_the_training_mean(evidence: Evidence, regression: Any) -> None:
    fitted, frame, _ = regression
    y = frame["target"].to_numpy()
    held_out = y[fitted.validation_rows]
    trained = np.delete(y, fitted.validation_rows)
    median, root, *_ = evidence.outputs[0].scores
    assert np.isclose(median.baseline, np.median(np.abs(held_out - trained.mean())))
    assert np.isclose(root.baseline, np.sqrt(np.mean((held_out - trained.mean()) ** 2)))
    assert root.model < root.baseline


def test_coverage_grows_with_the_level(evidence: Evidence) -> None:
    output = evidence.outputs[0]
    assert np.all(np.diff(output.coverages) >= 0)
    at_95 = np.isclose(output.levels, 0.95)
    assert np.allclose(output.coverages[at_95], output.coverage)


def test_the_shortest_length_scale_comes_first(evidence: Evidence) -> None:
    scales = evidence.prior.length_scales
    assert [scale.value for scale in scales] == sorted(scale.value for scale in scales)
    assert scales[0].column == "age"
    by_name = {scale.column: scale for scale in scales}
    assert by_name["age"].in_units is not None
    assert by_name["sex"].in_units is None


def test_effects_vary_one_column_in_its_own_units(evidence: Evidence, regression: Any) -> None:
    effects = {effect.column: effect for effect in evidence.outputs[0].effects}
    assert len(effects) == 9
    ages = regression[1]["age"]
    assert ages.min() <= effects["age"].grid[0] < effects["age"].grid[-1] <= ages.max()
    assert set(effects["sex"].levels or ()) == {"second $x^2$", "<b>first</b>"}
    line = effects["bmi"].lines[0]
    assert np.all(line.observed_low < line.low) and np.all(line.high < line.observed_high)


def test_the_columns_that_matter_most_are_shown_first(evidence: Evidence) -> None:
    total = dict(zip(evidence.importance.columns, evidence.importance.total, strict=True))
    shown = [total[effect.column] for effect in evidence.outputs[0].effects]
    assert shown == sorted(total.values(), reverse=True)[: len(shown)]
    assert list(evidence.uncertainty.columns) == [e.column for e in evidence.outputs[0].effects[:3]]


def test_uncertain_rows_are_numbered_as_in_the_file(evidence: Evidence, regression: Any) -> None:
    fitted, frame, _ = regression
    most_novel = evidence.uncertainty.most_novel
    assert len(most_novel) == 10
    x = fitted.preparation.inputs(frame)
    assert most_novel[0].number == int(np.argmax(fitted.novelty(x))) + 1
    shown = evidence.uncertainty.columns[0]
    assert most_novel[0].cells[0] == cell(frame[shown].iloc[most_novel[0].number - 1])


def test_rows_without_a_target_keep_the_numbers_of_the_others(regression: Any) -> None:
    fitted, frame, target = regression
    holed = frame.copy()
    holed.loc[0, target] = np.nan
    fitted = type(fitted)(**{**vars(fitted), "validation_rows": np.array([0])})
    case = case_of(fitted, holed)
    assert case.numbers[0] == 2 and case.held_out[0] and len(case.x) == len(frame) - 1


def test_confusion_counts_every_judged_row(label_evidence: Evidence) -> None:
    labels = label_evidence.labels
    assert labels is not None and labels.classes == ("benign", "malignant")
    assert labels.confusion.sum() == label_evidence.num_judged == sum(b.count for b in labels.bins)
    assert labels.accuracy == labels.scores[0].model > labels.scores[0].baseline


def test_one_of_two_classes_is_drawn(label_evidence: Evidence) -> None:
    labels = label_evidence.labels
    assert labels is not None
    for effect in labels.effects:
        assert [line.label for line in effect.lines] == ["malignant"]
        assert np.all((effect.lines[0].low >= 0) & (effect.lines[0].high <= 1))


def test_each_of_several_outputs_is_judged(
    several_outputs: Any, several_evidence: Evidence
) -> None:
    _, frame, targets = several_outputs
    assert [output.name for output in several_evidence.outputs] == targets
    for output, name in zip(several_evidence.outputs, targets, strict=True):
        assert np.allclose(output.actual, frame[name].iloc[::5])


def test_composite_kernels_are_read_part_by_part(regression: Any) -> None:
    fitted, frame, _ = regression
    kernel = 2.0 * Matern32(3.0).on(0, 1) + Linear() + Periodic(1.5, period=0.5).on(3)
    function = dataclasses.replace(fitted.prior.function, kernel=kernel)
    prior_model = dataclasses.replace(fitted.prior, function=function)
    fitted = type(fitted)(**{**vars(fitted), "prior": prior_model})
    prior = prior_evidence(case_of(fitted, frame))
    assert [part.family for part in prior.parts] == ["Matern32", "Linear", "Periodic"]
    assert np.isclose(prior.parts[2].periods[0][1], 0.5 * fitted.input_spread[3])
    assert [scale.value for scale in prior.length_scales[:3]] == [1.5, 3.0, 3.0]


def test_kernels_without_length_scales_are_measured(regression: Any) -> None:
    fitted, frame, _ = regression
    function = dataclasses.replace(fitted.prior.function, kernel=Linear() + 1.0)
    prior_model = dataclasses.replace(fitted.prior, function=function)
    fitted = type(fitted)(**{**vars(fitted), "prior": prior_model})
    scales = prior_evidence(case_of(fitted, frame)).length_scales
    assert len(scales) == len(fitted.preparation.features_of_columns)
    assert all(np.isfinite(scale.value) and scale.value > 0 for scale in scales)


def test_large_tables_are_thinned_evenly() -> None:
    rows = thinned(np.arange(1_000_000))
    assert len(rows) == 5000 and rows[0] == 0 and rows[-1] == 999_999
