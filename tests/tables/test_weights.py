"""Row weights from a column of a table."""

import pandas as pd
import pytest

from gfsvi.tables.reading import TableError
from gfsvi.tables.weights import read_weights


def test_weights_are_read_as_numbers():
    frame = pd.DataFrame({"w": ["1", "0", "2.5"]})
    assert read_weights(frame, "w").tolist() == [1, 0, 2.5]


def test_a_missing_column_of_weights_is_refused():
    with pytest.raises(TableError, match="`v` with weights, got none.*The columns are `w`, `x`"):
        read_weights(pd.DataFrame({"w": [1.0], "x": [2.0]}), "v")


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "heavy"])
def test_weights_that_are_no_positive_number_or_zero_are_refused(weight):
    with pytest.raises(TableError, match="at least 0 in column `w`, got something else in 1 row;"):
        read_weights(pd.DataFrame({"w": [1.0, weight, 1.0, 1.0]}), "w")
