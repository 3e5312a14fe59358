"""Numbers and findings in sentences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi.report import words
from gfsvi.report.evidence import KernelPart, PriorEvidence, Relevance


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2.9345, "2.93"),
        (41.23, "41.2"),
        (-0.5, "−0.500"),
        (123.4, "123"),
        (1234567, "1 234 567"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert words.number(value).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


@given(st.floats())
def test_every_number_can_be_said(value: float) -> None:
    assert words.number(value) and len(words.number(value)) <= 14
    assert words.cell(value)


@given(st.floats(0, 1))
def test_only_all_is_a_hundred_per_cent(share: float) -> None:
    said = words.percent(share)
    assert (said == "100\N{NO-BREAK SPACE}%") == (share == 1)
    assert (said == "0\N{NO-BREAK SPACE}%") == (share == 0)


def test_long_names_are_shortened_to_one_line() -> None:
    assert words.shortened("a\nb" + "c" * 100, 10) == "a bcccccc…"
    assert words.shortened("short") == "short"


def test_cells_show_whole_numbers_and_missing_ones() -> None:
    cells = [24.0, np.int64(-3), 2.5, math.nan, None, True, "text"]
    assert [words.cell(c) for c in cells] == [
        "24",
        "−3",
        "2.50",
        "missing",
        "missing",
        "True",
        "text",
    ]


def test_the_prior_is_told_as_in_the_manual() -> None:
    relevances = (Relevance("rooms", 0.8, 0.56), Relevance("tax", 30.0, 5000.0))
    prior = PriorEvidence((KernelPart("Matern52"),), relevances)
    said = " ".join(words.prior_sentences(prior, ["medv"]))
    assert said.startswith("`medv` varies smoothly")
    assert "`rooms` matters on a scale of 0.800 (0.560 in its own units)" in said
    assert "`tax` hardly matters" in said


def test_features_of_one_scale_are_not_told_apart() -> None:
    prior = PriorEvidence((), (Relevance("a", 2.0, None), Relevance("b", 2.0, None)))
    assert "same scale, 2.00" in words.prior_sentences(prior, ["y"])[-1]


def test_periods_are_told_in_the_units_of_the_column() -> None:
    part = KernelPart("Periodic", ("hour",), (("hour", 24.0),))
    prior = PriorEvidence((part,), (Relevance("hour", 1.0, 7.0),))
    assert (
        "repeats itself along `hour`: every 24.0 of `hour`"
        in words.prior_sentences(prior, ["y"])[0]
    )


def test_classes_have_chances() -> None:
    prior = PriorEvidence((KernelPart("RBF"),), (Relevance("a", 2.0, None),))
    said = words.prior_sentences(prior, ["colour"], "classification")[0]
    assert said.startswith("The chance of each `colour` varies very smoothly")


def test_backticks_in_names_do_not_end_the_name() -> None:
    assert words.quoted("a`b").count("`") == 2
