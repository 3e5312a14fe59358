"""Tables of other libraries, which need not be installed."""

import datetime

import numpy as np
import pandas as pd
import pyarrow
import pytest

from gfsvi.tables import Categories, Date, Numeric, Preparation
from gfsvi.tables.frames import as_frame, is_table
from gfsvi.tables.reading import TableError

FRAME = pd.DataFrame(
    {
        "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(12)],
        "town": ["Bonn", "Celle", None] * 4,
        "size": np.linspace(40, 200, 12),
        "rooms": pd.array([1, 2, 3, None] * 3, "Int64"),
        "price": np.linspace(3.0, 9.0, 12),
    }
)


class Foreign:
    """A table as polars has it: names of columns, and Arrow's protocol."""

    def __init__(self, frame: pd.DataFrame):
        self._table = pyarrow.Table.from_pandas(frame)
        self.columns = self._table.column_names

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


TABLES = {"arrow": pyarrow.Table.from_pandas(FRAME), "foreign": Foreign(FRAME), "pandas": FRAME}
every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@every_table
def test_every_kind_of_column_is_recognised_and_becomes_the_same_numbers(table):
    preparation = Preparation.learn(table, "price")
    kinds = {column.name: type(column) for column in preparation.columns}
    assert kinds == {"day": Date, "town": Categories, "size": Numeric, "rooms": Numeric}
    expected = Preparation.learn(FRAME, "price").prepare(FRAME)
    prepared = preparation.prepare(table)
    np.testing.assert_array_equal(prepared.x, expected.x)
    np.testing.assert_array_equal(prepared.y, expected.y)


def test_tables_are_told_from_arrays():
    assert all(is_table(table) for table in TABLES.values())
    assert not is_table(np.zeros((2, 2))) and not is_table([[1.0]])


def test_a_frame_of_pandas_stays_what_it_is():
    assert as_frame(FRAME) is FRAME


def test_a_table_that_does_not_speak_arrow_raises():
    class Lazy:
        columns = ("a",)

        def collect(self) -> None: ...

    with pytest.raises(TableError, match="pandas, polars or Arrow; got .*Lazy. Call its collect"):
        as_frame(Lazy())


def test_arrow_columns_that_pandas_cannot_hold_raise_in_words():
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise TypeError("no such stream")

    with pytest.raises(TableError, match="got the error 'no such stream' from .*Broken"):
        as_frame(Broken())
