"""Tables as their files have them, for methods that do their own preparation, and their folds."""

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gfsvi import registry
from gfsvi.bench.data.dataset import Arrays
from gfsvi.bench.data.folds import rows_of_test
from gfsvi.bench.data.loading import load, path_of
from gfsvi.bench.data.own_tables import OwnTable
from gfsvi.bench.data.table_file import AbstractTableFile
from gfsvi.tables import Preparation, Task
from gfsvi.tables.cells import text_of
from gfsvi.tables.reading import TableFile, load_pandas

if TYPE_CHECKING:
    import pandas


class TableFold(NamedTuple):
    """Rows to learn from and rows to predict, with cells as they are written.

    Args:
        train: Training rows, with the target.
        test: Test rows, with the target.
        target: Name of the column to predict.
        y_train: Targets of the training rows: numbers, or numbers of classes.
        y_test: Targets of the test rows.
        classes: Classes as texts; None for numbers.
    """

    train: "pandas.DataFrame"
    test: "pandas.DataFrame"
    target: str
    y_train: np.ndarray
    y_test: np.ndarray
    classes: tuple[str, ...] | None


class RawTable(NamedTuple):
    """A table with cells as they are written, and its target as numbers or numbers of classes."""

    frame: "pandas.DataFrame"
    target: str
    y: np.ndarray
    classes: tuple[str, ...] | None

    def fold(self, number: int) -> TableFold:
        """One of five folds; those of labels have as many rows of each class."""
        is_test = rows_of_test(self.y, number, stratified=self.classes is not None)
        train, test = (self.frame.loc[rows] for rows in (~is_test, is_test))
        y_train, y_test = self.y[~is_test], self.y[is_test]
        return TableFold(train, test, self.target, y_train, y_test, self.classes)


@functools.lru_cache(maxsize=4)
def raw_table(name: str) -> RawTable:
    """The table of that name: a CSV file, arrays of numbers, or FILE:COLUMN."""
    own = OwnTable.named(name)
    if own is not None:
        return _of_file(TableFile(own.path), own.target)
    kind = registry.find("datasets", name)
    if issubclass(kind, AbstractTableFile):
        return _of_file(TableFile(path_of(kind())), kind.target, kind.kind, kind.left_out)
    return _of_arrays(load(name).arrays)


def _of_file(
    file: TableFile, target: str, task: Task = "auto", left_out: tuple[str, ...] = ()
) -> RawTable:
    frame = file.frame().drop(columns=list(left_out))
    written = file.as_written(list(frame.columns))
    return _known(frame, written, target, task)


def _of_arrays(arrays: Arrays) -> RawTable:
    x, y = arrays["X"], arrays["y"]
    columns = {f"x{number}": column for number, column in enumerate(x.T, 1)}
    frame = load_pandas().DataFrame(columns | {"y": y})
    return _known(frame, frame, "y", "regression")


def _known(
    frame: "pandas.DataFrame", written: "pandas.DataFrame", target: str, task: Task
) -> RawTable:
    """The rows whose target is known."""
    preparation = Preparation.learn(frame, target, task)
    usable = preparation.usable_rows(frame)
    y = preparation.observations(frame[usable])
    rows = written[usable].reset_index(drop=True)
    if preparation.classes is None:
        return RawTable(rows, target, y, None)
    classes = tuple(text_of(label) for label in preparation.classes)
    return RawTable(rows.assign(**{target: np.array(classes)[y]}), target, y, classes)
