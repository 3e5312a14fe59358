import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi import Data


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.1, 1.0, -3.5])] * 3), min_size=1, max_size=30))
def test_of_equal_rows_the_first_is_kept_in_its_place(rows):
    table = np.array(rows)
    kept = Data(table[:, :2], table[:, 2]).without_copies()
    found = list(dict.fromkeys(rows))
    np.testing.assert_array_equal(np.column_stack([kept.x, kept.y]), found)


def test_equal_inputs_with_other_observations_are_no_copies():
    data = Data(np.zeros((3, 2)), np.array([0.0, 1.0, np.nextafter(1.0, 2.0)]))
    assert data.without_copies() is data


def test_rows_of_several_observations_and_labels_are_compared_whole():
    x = np.array([[1.0], [1.0], [1.0]])
    assert len(Data(x, np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])).without_copies()) == 2
    assert len(Data(x, np.array([0, 1, 0])).without_copies()) == 2


def test_sums_over_rows_count_them_by_their_weights():
    data = Data(np.zeros((3, 1)), np.zeros(3), np.array([1.0, 2.0, 0.5]))
    values = np.array([1.0, 10.0, 100.0])
    assert data.total(values) == 71.0
    assert data.mean(values) == pytest.approx(71 / 3.5)


def test_rows_without_weights_count_alike():
    data = Data(np.zeros((3, 1)), np.zeros(3))
    values = np.array([1.0, 10.0, 100.0])
    assert data.total(values) == 111.0 and data.mean(values) == 37.0
    np.testing.assert_array_equal(data.row_weights, np.ones(3))


def test_rows_take_their_weights_along(key):
    weights = np.arange(1.0, 11.0)
    data = Data(weights[:, None], weights, weights)
    parts = (*data.split(0.3, key=key), data.take(np.array([3, 1])), data.thinned(3))
    assert [len(part) for part in parts] == [7, 3, 2, 3]
    for part in parts:
        np.testing.assert_array_equal(part.weights, part.y)


def test_distinct_rows_have_no_weights():
    x = np.array([[1.0], [2.0], [1.0]])
    kept = Data(x, np.zeros(3), np.array([1.0, 2.0, 3.0])).without_copies()
    assert kept.weights is None and len(kept) == 2
    assert Data(x[:2], np.zeros(2), np.ones(2)).without_copies().weights is None


def test_weights_pass_through_compiled_functions():
    data = Data(np.zeros((2, 1)), np.zeros(2), np.array([3.0, 4.0]))
    assert jax.jit(lambda data: data.total(np.ones(2)))(data) == 7.0


@pytest.mark.parametrize("weights", [np.ones(2), np.ones((3, 1)), np.ones(4)])
def test_weights_of_another_shape_are_refused(weights):
    with pytest.raises(ValueError, match=r"one weight per point, \(3,\); got"):
        Data(np.zeros((3, 1)), np.zeros(3), weights)
