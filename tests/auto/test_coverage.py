"""How many independent rows successive rows are worth, in judging the share inside intervals."""

import numpy as np
import pytest
from scipy.signal import lfilter

from gfsvi.auto.coverage import independent_rows

NUM_ROWS = 40_000


def autoregressive(correlation: float) -> np.ndarray:
    """One level and one output: (level, row, output)."""
    noise = np.random.default_rng(0).normal(size=NUM_ROWS)
    return np.asarray(lfilter([1.0], [1.0, -correlation], noise))[None, :, None]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_an_autoregression_is_worth_what_theory_says(correlation):
    expected = NUM_ROWS * (1 - correlation) / (1 + correlation)
    assert independent_rows(autoregressive(correlation)) == pytest.approx([expected], rel=0.1)


def test_the_share_inside_scatters_like_that_of_as_many_independent_rows():
    size, length = 400, 25  # blocks of rows that are all inside or all outside
    worth, shares = [], []
    for seed in range(200):
        blocks = np.random.default_rng(seed).uniform(size=size // length) < 0.7
        inside = np.repeat(blocks, length)[None, :, None]
        worth.append(independent_rows(inside)[0])
        shares.append(np.mean(inside))
    assert np.median(worth) == pytest.approx(0.7 * 0.3 / np.var(shares), rel=0.35)


def test_each_output_has_its_own_number_and_no_more_than_its_rows():
    rows = np.random.default_rng(0).uniform(size=(3, 300, 1)) < 0.5
    everywhere = np.ones((3, 300, 1), bool)
    found = independent_rows(np.concatenate([rows, everywhere], axis=2))
    assert 150 < found[0] <= 300 and found[1] == 300


def test_errors_that_alternate_are_worth_all_their_rows():
    inside = (np.arange(9) % 2 == 0)[None, :, None]
    assert independent_rows(inside) == [9]
