import numpy as np
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
