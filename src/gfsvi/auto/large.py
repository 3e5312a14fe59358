"""Fit rows that need not fit into memory: files, memory maps, or batches that a program makes."""

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Sequence

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.learner import Learner
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.streamed import learn_streamed
from gfsvi.auto.streamed_numbers import StreamedTable
from gfsvi.tables import Preparation, Task
from gfsvi.tables.batches import TableOfArrays as TableOfArrays
from gfsvi.tables.batches import kept_batches
from gfsvi.tables.reading import FilePath, TableError
from gfsvi.tables.sources import TableFiles


def fit_streamed(
    rows: FilePath | TableOfArrays | Iterable[object],
    target: str | Sequence[str] | None = None,
    *,
    task: Task = "auto",
    weight: str | None = None,
    parameters: Parameters | None = None,
) -> Fitted:
    """Fit rows that are read piece by piece.

    Args:
        rows: A file, folder or pattern of CSV or Parquet files; a `TableOfArrays`, whose arrays may
            be memory maps; or an iterable of tables, such as frames of pandas, which is read once.
        target: The columns to predict; arrays have theirs.
        task: The kind of target.
        weight: The column with weights of rows, if there is one.
        parameters: The parameters of the fit.
    """
    if isinstance(rows, TableOfArrays):
        return _fit_arrays(rows, task, parameters)
    if isinstance(rows, str | os.PathLike):
        opened = contextlib.nullcontext(TableFiles.at(rows))
    else:
        opened = kept_batches(rows)
    with opened as source:
        if target is None:
            raise TableError(f"expected the target of {source.name}, got none; name its column.")
        names = (target,) if isinstance(target, str) else tuple(target)
        return _fit(StreamedTable(source, names, task, weight), parameters)


def _fit_arrays(rows: TableOfArrays, task: Task, parameters: Parameters | None) -> Fitted:
    """A fit that predicts rows of arrays, as they are."""
    kind = rows.task if task == "auto" else task
    fitted = _fit(StreamedTable(rows, rows.targets, kind, rows.weight), parameters)
    return dataclasses.replace(fitted, preparation=None, are_named=False)


def _fit(table: StreamedTable, parameters: Parameters | None) -> Fitted:
    given = Parameters() if parameters is None else parameters

    def learner_for(preparation: Preparation) -> Learner:
        task = "regression" if preparation.classes is None else "classification"
        return Learner(task, given)

    return learn_streamed(learner_for, table, seed=int(given.random_state)).fitted
