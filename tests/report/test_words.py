"""Numbers and findings in sentences."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gfsvi.auto.composition import Composition
from gfsvi.auto.importance import Importance
from gfsvi.report import formatting, prior_words, words
from gfsvi.report.evidence import (
    Evidence,
    KernelPart,
    LengthScale,
    PriorEvidence,
    RegressionOutput,
    sampling_error,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2.9345, "2.93"),
        (41.23, "41.2"),
        (-0.5, "−0.500"),
        (123.4, "123"),
        (1234.5, "1234"),
        (12345, "12 345"),
        (1234567, "1 234 567"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert formatting.number(value).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (371.52, 0.4, "371.52"),
        (371.52, 30.0, "372"),
        (348179, 65000, "348 000"),
        (2.5, 0.0, "2.50"),
    ],
)
def test_values_are_as_precise_as_their_error(value: float, error: float, text: str) -> None:
    assert formatting.beside(value, error).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


def test_thousands_are_written_in_one_way() -> None:
    written = {
        formatting.number(12345),
        formatting.count(12345),
        formatting.cell(12345),
        formatting.tick(12345.0),
    }
    assert written == {"12\N{NARROW NO-BREAK SPACE}345"}
    assert formatting.cell(2007) == formatting.tick(2007.0) == "2007"  # maybe a year


def test_one_thing_is_singular() -> None:
    assert formatting.counted(1, "column") == "1 column"
    assert formatting.counted(0, "row") == "0 rows"


@given(st.floats())
def test_every_number_can_be_formatted(value: float) -> None:
    assert formatting.number(value) and len(formatting.number(value)) <= 14
    assert formatting.cell(value)


@example(0.005)
@example(0.995)
@given(st.floats(0, 1))
def test_only_a_share_of_one_is_a_hundred_percent(share: float) -> None:
    said = formatting.percent(share)
    assert (said == "100\N{NO-BREAK SPACE}%") == (share == 1)
    assert (said == "0\N{NO-BREAK SPACE}%") == (share == 0)


def test_long_names_are_shortened_to_one_line() -> None:
    assert formatting.shortened("a\nb" + "c" * 100, 10) == "a bcccccc…"
    assert formatting.shortened("short") == "short"


def test_cells_show_whole_numbers_and_missing_ones() -> None:
    cells = [24.0, np.int64(-3), 2.5, math.nan, None, True, "text", pd.Timestamp("2020-02-01")]
    cells += [np.datetime64("2020-02-01", "s"), 19580329]
    assert [formatting.cell(c) for c in cells] == [
        "24",
        "−3",
        "2.5",
        "missing",
        "missing",
        "True",
        "text",
        "2020-02-01",
        "2020-02-01",
        "19\N{NARROW NO-BREAK SPACE}580\N{NARROW NO-BREAK SPACE}329",
    ]


def test_the_prior_says_how_quickly_the_target_can_change() -> None:
    scales = (LengthScale("rooms", 0.8, 0.56), LengthScale("tax", 30.0, 5000.0))
    prior = PriorEvidence((KernelPart("Matern52"),), scales)
    said = " ".join(prior_words.prior_sentences(prior, ["medv"]))
    assert said.startswith("`medv` varies smoothly")
    assert "The length scale is 0.800 along `rooms` (0.560 in its own units)." in said
    assert "Only slow changes are expected along `tax`." in said
    assert "matter" not in said  # a length scale does not measure importance


def test_the_columns_that_predictions_depend_on_are_named() -> None:
    shares = np.array([0.005, 0.4, 0.3])
    found = Importance(("age", "bmi", "s5"), shares, shares, shares, shares)
    assert words.importance(found).replace("\N{NO-BREAK SPACE}", " ") == (
        "The total share is 40 % for `bmi` and 30 % for `s5`."
    )
    nothing = dataclasses.replace(found, total=np.zeros(3))
    assert words.importance(nothing).startswith("No column changes the predictions")


def test_many_length_scales_are_summarized() -> None:
    scales = tuple(LengthScale(name, 1.0 + i / 2, None) for i, name in enumerate("abcdef"))
    (said,) = prior_words.prior_sentences(PriorEvidence((), scales[:2]), ["y"])
    assert said == "The length scale is 1.00 along `a` and 1.50 along `b`."
    (said,) = prior_words.prior_sentences(PriorEvidence((), scales[:5]), ["y"])
    assert said.endswith("2.00 along `c`, 2.50 along `d` and more along 1 other column.")
    (said,) = prior_words.prior_sentences(PriorEvidence((), scales), ["y"])
    assert said.endswith("2.00 along `c`, 2.50 along `d` and more along 2 other columns.")


def test_a_common_length_scale_is_said_once() -> None:
    prior = PriorEvidence((), (LengthScale("a", 2.0, None), LengthScale("b", 2.0, None)))
    assert "same length scale, 2.00" in prior_words.prior_sentences(prior, ["y"])[-1]


def test_periods_are_given_in_the_units_of_the_column() -> None:
    part = KernelPart("Periodic", ("hour",), (("hour", 24.0),))
    prior = PriorEvidence((part,), (LengthScale("hour", 1.0, 7.0),))
    assert (
        "repeats periodically along `hour`, with a period of 24.0 in `hour`."
        in prior_words.prior_sentences(prior, ["y"])[0]
    )


def test_a_sum_is_described_part_by_part() -> None:
    parts = (KernelPart("Linear", ("hour",)), KernelPart("RBF"))
    said = prior_words.prior_sentences(PriorEvidence(parts, ()), ["y"])
    assert said == [
        "`y` is made of 2 parts.",
        "Along `hour`, one follows a straight line.",
        "One varies very smoothly.",
    ]


def test_classes_have_probabilities() -> None:
    prior = PriorEvidence((KernelPart("RBF"),), (LengthScale("a", 2.0, None),))
    said = prior_words.prior_sentences(prior, ["colour"], "classification")[0]
    assert said.startswith("The probability of each class of `colour` varies very smoothly")


def test_the_page_says_which_network_the_prior_is_about_if_another_builds_on_trees() -> None:
    said = prior_words.composition(Composition(0.4, "trees")).replace("\N{NO-BREAK SPACE}", " ")
    assert "One, with 60 % of the weight, has the prior described here" in said
    assert "the other, with 40 %, learns what trees leave unexplained" in said
    alone = prior_words.composition(Composition(1.0, "trees"))
    assert alone.startswith("Predictions build on trees")
    assert "that of a network without trees, which was not kept" in alone
    labels = prior_words.composition(Composition(0.4, "trees"), "classification")
    assert "also sees the scores that trees give each class" in labels
    own = prior_words.composition(Composition(1.0, "RidgeCV"))
    assert "learns what `RidgeCV` leaves unexplained" in own and "most probable" not in own


def test_the_weight_of_trees_was_chosen_by_the_rows_that_judge_them(evidence, label_evidence):
    assert "decided when to stop and on the noise:" in words.honesty(evidence)
    assert "and on the scale of the prior:" in words.honesty(label_evidence)
    with_trees = dataclasses.replace(evidence, composition=Composition(0.4, "trees"))
    assert "on the noise and the weight of trees:" in words.honesty(with_trees)


def test_backticks_in_names_do_not_end_the_name() -> None:
    assert formatting.quoted("a`b").count("`") == 2


def with_coverages(evidence: Evidence, coverages: np.ndarray) -> RegressionOutput:
    return dataclasses.replace(evidence.outputs[0], coverages=coverages)


def test_intervals_within_the_sampling_error_are_well_calibrated(evidence: Evidence) -> None:
    levels, num_rows = evidence.outputs[0].levels, len(evidence.outputs[0].actual)
    close = levels + 0.9 * sampling_error(levels, num_rows)
    assert "well calibrated" in words.calibration(with_coverages(evidence, close))


@pytest.mark.parametrize(("shift", "said"), [(0.4, "too wide"), (-0.4, "too narrow")])
def test_the_worst_interval_is_named(evidence: Evidence, shift: float, said: str) -> None:
    levels = evidence.outputs[0].levels
    off = np.where(np.isclose(levels, 0.55), levels + shift, levels + 0.75 * shift)
    found = words.calibration(with_coverages(evidence, off))
    assert found == f"The intervals are {said}, especially the {formatting.percent(0.55)} one."


def test_where_some_are_too_wide_and_others_too_narrow_both_are_said(evidence: Evidence) -> None:
    # The mean is too narrow, the worst too wide: the page must not contradict its warning.
    levels = evidence.outputs[0].levels
    off = np.where(np.isclose(levels, 0.55), levels + 0.44, np.maximum(levels - 0.3, 0))
    found = words.calibration(with_coverages(evidence, off))
    worst = formatting.percent(0.55)
    assert found == f"The {worst} intervals are too wide, those of other levels too narrow."


@pytest.mark.parametrize(
    ("share", "said"), [(0.48, "about 48 %"), (0.001, "less than 1 %"), (0.999, "more than 99 %")]
)
def test_shares_of_the_variance_are_said_in_words(
    evidence: Evidence, share: float, said: str
) -> None:
    output = dataclasses.replace(evidence.outputs[0], explained_share=share)
    sentence = words.signal_and_noise(output).replace("\N{NO-BREAK SPACE}", " ")
    assert f"The columns explain {said} of the variance" in sentence


def test_the_share_inside_is_uncertain_if_successive_rows_have_similar_errors(evidence):
    output = evidence.outputs[0]
    assert "Successive rows" not in words.summary(evidence)
    alike = dataclasses.replace(output, independent_rows=9.0)
    said = words.summary(dataclasses.replace(evidence, outputs=(alike,)))
    error = 2 * np.sqrt(np.clip(output.coverage, 0.05, 0.95) * (1 - min(output.coverage, 0.95)) / 9)
    assert f"anything from {100 * (output.coverage - error):.0f}" in said
    assert words.calibration(alike).startswith("The intervals are well calibrated")


def test_the_first_sentence_says_what_guessing_would_achieve(evidence, label_evidence):
    output, labels = evidence.outputs[0], label_evidence.labels
    error = output.scores[1]
    assert "Always predicting the mean" not in words.summary(evidence)
    poor = dataclasses.replace(error, model=0.95 * error.baseline)
    scores = (output.scores[0], poor, *output.scores[2:])
    output = dataclasses.replace(output, scores=scores)
    assert "Always predicting the mean would be about as good" in words.summary(
        dataclasses.replace(evidence, outputs=(output,))
    )
    guess = formatting.percent(labels.scores[0].baseline)
    assert f"most frequent class would be right for {guess}." in words.summary(label_evidence)
