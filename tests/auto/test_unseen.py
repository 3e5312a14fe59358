"""How surprising observations are, in agreement with intervals and sets."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from gfsvi.auto import unseen
from gfsvi.auto.unseen import STEP, UnseenRows, surprise_of
from gfsvi.likelihoods import Poisson
from gfsvi.predictives import (
    CategoricalPredictive,
    NormalPredictive,
    StudentPredictive,
    WarpedPredictive,
)
from gfsvi.predictives.warp import Bounded, Warp
from gfsvi.values import Marginals


def normal(mean, std):
    return NormalPredictive(np.asarray(mean), np.zeros(np.shape(mean)), np.square(std))


@given(st.floats(-5, 5), st.floats(0.1, 10))
def test_surprise_of_a_normal_is_the_distance_in_standard_deviations(z, std):
    found = surprise_of(normal(np.full(1, 3.0), np.full(1, std)), np.array([3.0 + z * std]))
    assert abs(z) - 1e-9 <= found[0, 0] <= abs(z) + STEP + 1e-9


@pytest.mark.parametrize("scale", [1.0, -2.0, np.array([2.0, 3.0])])
def test_distribution_functions_say_what_intervals_say(scale, monkeypatch):
    random = np.random.default_rng(0)
    y = random.normal(size=(40, 2)) ** 2
    y[:15], y[-3:] = 0.0, 5.0
    warp = Bounded(Warp.fitted(y), (0.0, 0.0), (np.inf, 5.0))
    centre = warp.forward(y.T).T + random.normal(size=y.shape)
    variances = (np.full_like(y, 0.3), np.full_like(y, 0.6), np.full_like(y, [3.0, 20.0]))
    predictive = WarpedPredictive.of(warp, StudentPredictive(centre, *variances))
    predictive = predictive.rescaled(scale, 3.7)
    observed = scale * np.clip(y, 0, [np.inf, 5.0]) + 3.7
    exact = surprise_of(predictive, observed)
    monkeypatch.setattr(unseen, "Cumulative", type(None))
    np.testing.assert_allclose(exact, surprise_of(predictive, observed), atol=1e-12)
    assert np.any(exact == 0) and np.max(exact) < np.inf


def test_what_no_interval_contains_is_infinitely_surprising():
    assert surprise_of(normal(np.zeros(1), np.ones(1)), np.array([9.0]))[0, 0] == np.inf


def test_every_output_has_its_own_surprise():
    mean = np.zeros((4, 2))
    y = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.5], [3.0, 0.0]])
    found = surprise_of(normal(mean, np.full_like(mean, [1.0, 0.5])), y)
    np.testing.assert_allclose(found, np.abs(y) / [1.0, 0.5], atol=STEP)


def test_counts_are_inside_the_interval_that_their_surprise_names():
    values = Marginals(np.log([[2.0, 5.0, 9.0]]), np.full((3, 1, 1), 0.04))
    predictive = Poisson().predict(values, key=jax.random.key(0))
    y = np.array([0.0, 5.0, 20.0])
    for row, needed in enumerate(surprise_of(predictive, y)[:, 0]):
        for width, is_inside in ((needed, True), (needed - 2 * STEP, False)):
            if width > 0:
                lower, upper = np.asarray(predictive.quantile(ndtr([-width, width])))[:, row]
                assert (lower <= y[row] <= upper) == is_inside


def test_surprise_of_a_label_is_what_is_at_least_as_probable():
    probabilities = np.array([[0.6, 0.3, 0.1]] * 3)
    predictive = CategoricalPredictive(np.log(probabilities)[None])
    found = surprise_of(predictive, np.array([0, 1, 2]))
    np.testing.assert_allclose(found[:, 0], [0.6, 0.9, 1.0])


def test_p_values_count_rows_that_were_at_least_as_surprising():
    known = UnseenRows(np.array([[1.0], [2.0], [3.0], [4.0]]), np.ones(4))
    found = known.p_values(np.array([[0.5], [2.5], [4.0], [9.0]]))
    np.testing.assert_allclose(found, np.array([5, 3, 2, 1]) / 5)


def test_p_values_of_similar_rows_are_uniform():
    random = np.random.default_rng(0)
    known = UnseenRows(random.normal(size=(2000, 2)), np.ones(2000))
    found = known.p_values(random.normal(size=(20_000, 2)))
    for share in (0.05, 0.5, 0.9):
        assert np.mean(found <= share) == pytest.approx(share, abs=0.03)


def test_a_weight_counts_like_copies():
    surprise, new = np.array([[1.0], [2.0], [3.0]]), np.array([[2.5], [1.0]])
    weighted = UnseenRows(surprise, np.array([1.0, 1.0, 2.0])).p_values(new)
    np.testing.assert_allclose(weighted, [(2 + 2) / 6, (4 + 2) / 6])
    assert UnseenRows(surprise, np.array([1.0, 1.0, 2.0])).size == pytest.approx(16 / 6)
