"""All rows of a table that is read piece by piece, as numbers.

A sample of rows decides how columns are used; a second pass turns all rows into numbers, in
temporary files, but for those that are held out.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from gfsvi.auto.holding_out import order_of_rows, share_held_out
from gfsvi.auto.learner import Learner
from gfsvi.numerics.groups import Alone, Group, own_lanes
from gfsvi.streams.lanes import Lane
from gfsvi.streams.sampling import HeldOut, Place, end_of, random_numbers
from gfsvi.streams.scan import Scanned
from gfsvi.streams.scratch import Scratch, written
from gfsvi.tables import AbstractColumn, Numeric, Preparation, PreparedTable, Task
from gfsvi.tables.batches import TableOfArrays
from gfsvi.tables.many_rows import for_many_rows
from gfsvi.tables.preparation import with_columns
from gfsvi.tables.sources import Piece, Source
from gfsvi.tables.weights import read_weights

if TYPE_CHECKING:
    import pandas

MOST_HELD_OUT = 10_000
"""Held-out rows; more would not tell more."""
MOST_OUTPUTS = 4
"""With more outputs, categories have no numbers of their own."""


@dataclasses.dataclass(frozen=True)
class StreamedTable:
    """A table that is read piece by piece.

    Args:
        source: Where its rows come from.
        target: The columns to predict.
        task: The kind of target.
        weight: The column with weights of rows, if there is one.
        group: The processes that share the work.
    """

    source: Source
    target: Sequence[str]
    task: Task = "auto"
    weight: str | None = None
    group: Group = dataclasses.field(default_factory=Alone)


def weighted(
    frame: "pandas.DataFrame", column: str | None
) -> "tuple[pandas.DataFrame, np.ndarray | None]":
    """A frame without the column of weights, and the weights."""
    if column is None:
        return frame, None
    return frame.drop(columns=column), read_weights(frame, column)


def prepared_columns(
    frame: "pandas.DataFrame", table: StreamedTable, scanned: Scanned
) -> Preparation:
    """How columns are used, as a sample suggests it and counts of all rows."""
    learned = Preparation.learn(frame, table.target, table.task)
    if isinstance(table.source, TableOfArrays):
        return with_columns(learned, [_as_it_is(c) for c in learned.columns], frame)
    num_outputs = len(table.target) if learned.classes is None else len(learned.classes)
    few = num_outputs <= MOST_OUTPUTS
    columns = []
    for column in learned.columns:
        days = np.zeros(1)
        if hasattr(column, "first"):
            days = column.encode(frame[column.name])[:, 0]
        counts = scanned.counts.get(column.name, {}) if few else {}
        columns.append(for_many_rows(column, days, counts))
    total = int(scanned.num_rows.sum())
    note = f"{len(frame)} of {total} rows, at random, decide how columns are used."
    return with_columns(learned, columns, frame, note if len(frame) < total else None)


def _as_it_is(column: AbstractColumn) -> AbstractColumn:
    """A column of an array, whose features are its columns."""
    return Numeric(column.name, 0.0, False)


def held_out_rows(learner: Learner, sample: PreparedTable, scanned: Scanned, seed: int) -> HeldOut:
    """The latest tenth of rows in time order, or at most `MOST_HELD_OUT` at random."""
    parameters, total = learner.parameters, int(scanned.num_rows.sum())
    order = order_of_rows(parameters, sample.time_order, len(sample.y))
    share = share_held_out(parameters, learner.recipe, (total, sample.x.shape[1]), order)
    if order is not None and share > 0:
        return HeldOut(seed, 0.0, end_of(scanned.num_rows, round(share * total)))
    most = MOST_HELD_OUT / total if parameters.validation_fraction is None else 1.0
    below = min(share, most)
    # The rows of the sample have the smallest numbers, and half of them have to be trained on.
    numbers = np.sort(random_numbers(seed, scanned.place))
    return HeldOut(seed, min(below, float(numbers[len(numbers) // 2])))


def lanes_of_table(
    scanned: Scanned,
    table: StreamedTable,
    preparation: Preparation,
    held_out: HeldOut,
    place: Scratch,
) -> list[Lane]:
    """The second pass: the numbers of all rows that are trained on."""
    lanes = own_lanes(table.group)

    def batches() -> Iterator[tuple[int, np.ndarray]]:
        for piece in scanned.source.pieces(lanes=lanes):
            yield piece.lane, _numbers_of(piece, table, preparation, held_out)

    return list(written(place, batches(), lanes))


def _numbers_of(
    piece: Piece, table: StreamedTable, preparation: Preparation, held_out: HeldOut
) -> np.ndarray:
    """Inputs, targets and weights of the rows of a piece that are trained on."""
    frame, weights = weighted(piece.frame(), table.weight)
    at = Place.of_piece(piece.part, piece.first, len(frame))
    used = preparation.usable_rows(frame) & ~held_out.of(at)
    rows = cast("pandas.DataFrame", frame[used])
    y = preparation.observations(rows)
    parts = [preparation.inputs(rows), np.reshape(y, (len(rows), len(table.target)))]
    if weights is not None:
        parts.append(weights[used][:, None])
    return np.concatenate(parts, axis=1)
