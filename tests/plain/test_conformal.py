"""Promised coverage, against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi.plain.conformal import (
    adaptive_sets,
    conformal_quantile,
    interval_given,
    nominal_levels,
)

SCORES = st.lists(st.floats(0, 100), min_size=1, max_size=40)


@given(SCORES, st.floats(0.05, 0.95))
def test_the_quantile_is_the_definition(scores, level):
    scores = np.array(scores)
    rank = int(np.ceil(level * (len(scores) + 1) * (1 - 1e-12)))
    expected = np.sort(scores)[rank - 1] if rank <= len(scores) else np.inf
    assert conformal_quantile(scores, np.ones(len(scores)), level) == expected


@given(SCORES, st.floats(0.05, 0.95), st.integers(0, 40))
def test_a_weight_counts_like_copies_if_the_new_row_does(scores, level, row):
    scores = np.array(scores)
    assert conformal_quantile(scores, np.full(len(scores), 3.0), level) == conformal_quantile(
        scores, np.ones(len(scores)), level
    )


@pytest.mark.parametrize("num_rows", [9, 19, 50])
def test_new_rows_are_covered_as_promised(num_rows):
    random = np.random.default_rng(0)
    scores, new = random.exponential(size=(4000, num_rows)), random.exponential(size=4000)
    limits = [conformal_quantile(row, np.ones(num_rows), 0.9) for row in scores]
    covered = np.mean(new <= limits)
    assert covered == pytest.approx(np.ceil(0.9 * (num_rows + 1)) / (num_rows + 1), abs=0.015)


def test_levels_of_calibrated_predictions_hardly_change():
    surprise = np.abs(np.random.default_rng(0).normal(size=(20_000, 2)))
    np.testing.assert_allclose(nominal_levels(surprise, np.ones(20_000), 0.9), 0.9, atol=0.01)


def test_wider_noise_needs_higher_levels():
    surprise = np.abs(np.random.default_rng(0).normal(size=(2000, 2))) * [1, 2]
    one, two = nominal_levels(surprise, np.ones(2000), 0.8)
    assert one == pytest.approx(0.8, abs=0.02) and two == pytest.approx(0.99, abs=0.01)


@pytest.mark.parametrize(("level", "needed"), [(0.9, 9), (0.95, 19), (0.5, 1)])
def test_too_few_rows_are_refused(level, needed):
    nominal_levels(np.ones((needed, 1)), np.ones(needed), level)
    if needed > 1:
        with pytest.raises(
            ValueError, match=f"at least {needed} rows to judge by; got {needed - 1}"
        ):
            nominal_levels(np.ones((needed - 1, 1)), np.ones(needed - 1), level)


def test_each_output_has_its_own_level():
    quantiles = {0.25: [1.0, 2.0], 0.75: [3.0, 4.0], 0.05: [0.0, -5.0], 0.95: [5.0, 9.0]}
    found = interval_given(lambda q: np.array([quantiles[round(q, 6)]] * 3), np.array([0.5, 0.9]))
    np.testing.assert_allclose(found[0], [[1.0, -5.0]] * 3)
    np.testing.assert_allclose(found[1], [[3.0, 9.0]] * 3)


def test_sets_grow_with_the_threshold_and_are_never_empty():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    sizes = [adaptive_sets(probabilities, t).sum(axis=1).tolist() for t in (0.1, 0.6, 0.8, 1.0)]
    assert sizes == [[1, 1], [1, 1], [2, 1], [3, 3]]
    np.testing.assert_array_equal(adaptive_sets(probabilities, 0.8)[0], [True, True, False])
