"""From a table that is larger than memory to a fit.

Two passes over the table: one for a sample of rows, which decides how columns are used, on the
prior and on the measurement points, and one that turns all rows into numbers, in temporary files.
Training, sums and the effects of categories then read these numbers, block by block.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from gfsvi.auto.agreement import checkpoint_of_first
from gfsvi.auto.examination import Examination
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.holding_out import Apart, order_of_rows, share_held_out
from gfsvi.auto.learner import Learner
from gfsvi.auto.problem import Problem
from gfsvi.auto.rows import centre_and_spread
from gfsvi.auto.solving import settings_of_stream
from gfsvi.auto.targets import Labels, Observed, observed_numbers_of_classes
from gfsvi.auto.units import features_of
from gfsvi.data import Data
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.numerics.clock import Clock
from gfsvi.numerics.groups import Alone, Group, own_lanes
from gfsvi.streams.effects import effects_of_levels
from gfsvi.streams.lanes import Converted, Lane
from gfsvi.streams.sampling import HeldOut, Place, end_of, random_numbers
from gfsvi.streams.scan import Scanned, scan
from gfsvi.streams.scratch import Scratch, scratch, written
from gfsvi.streams.stream import Layout, Stream
from gfsvi.tables import Preparation, PreparedTable, Task
from gfsvi.tables.many_rows import Calendar, Effects, for_many_rows
from gfsvi.tables.preparation import with_columns
from gfsvi.tables.reading import TableError
from gfsvi.tables.sources import Piece, TableFiles
from gfsvi.tables.weights import read_weights

if TYPE_CHECKING:
    import pandas

MOST_HELD_OUT = 10_000
"""Held-out rows; more would not tell more."""
MOST_OUTPUTS = 4
"""With more outputs, categories have no numbers of their own."""


class StreamedFit(NamedTuple):
    """A fit, and the sample of rows that its page may show, with their weights."""

    fitted: Fitted
    sample: PreparedTable
    weights: np.ndarray | None


@dataclasses.dataclass(frozen=True)
class StreamedTable:
    """A table that is read piece by piece.

    Args:
        source: Its files.
        target: The columns to predict.
        task: The kind of target.
        weight: The column with weights of rows, if there is one.
        group: The processes that share the work.
    """

    source: TableFiles
    target: Sequence[str]
    task: Task = "auto"
    weight: str | None = None
    group: Group = dataclasses.field(default_factory=Alone)


def learn_streamed(
    learner_for: Callable[[Preparation], Learner], table: StreamedTable, *, seed: int = 0
) -> StreamedFit:
    """Fit a table that is read piece by piece.

    Args:
        learner_for: The learner for a table that is prepared like this.
        table: The table.
        seed: Determines the sample.
    """
    scanned = scan(table.source, table.group, seed=seed)
    frame, weights = _weighted(scanned.sample, table.weight)
    preparation = _prepared(frame, table, scanned)
    learner = learner_for(preparation)
    _check(learner)
    sample = preparation.prepare(frame)
    held_out = _held_out(learner, sample, scanned, seed)
    width = len(preparation.feature_names) + len(table.target) + (weights is not None)
    with scratch(own_lanes(table.group), width) as place:
        lanes = _numbers(scanned, table, preparation, held_out, place)
        numbers = _Numbers(table, preparation, sample, lanes, weights)
        learner = _with_checkpoint(learner, table.group, place.folder)
        return numbers.fitted(learner, held_out, scanned)


@dataclasses.dataclass(frozen=True)
class _Numbers:
    """A table as numbers: a sample in memory, and all rows in lanes."""

    table: StreamedTable
    preparation: Preparation
    sample: PreparedTable
    lanes: Sequence[Lane]
    weights: np.ndarray | None

    def fitted(self, learner: Learner, held_out: HeldOut, scanned: Scanned) -> StreamedFit:
        """Find the effects of categories, then fit."""
        clock = Clock(learner.parameters.time_budget)
        usable = self.sample.usable
        weights = None if self.weights is None else self.weights[usable]
        place = Place(*(p[usable] for p in scanned.place))
        is_held = held_out.of(place)
        observed = _observed(learner, self.preparation, self.sample.y, weights)
        raw = self._stream(learner, observed, self.sample.x[~is_held], ~is_held, weights)
        preparation, expand = _with_effects(self.preparation, raw, observed)
        x = expand(self.sample.x)
        centre, spread = centre_and_spread(x, weights)

        def converted(numbers: np.ndarray) -> np.ndarray:
            size = self.sample.x.shape[1]
            rows = (expand(numbers[:, :size]) - centre) / spread
            return np.concatenate([rows, numbers[:, size:]], axis=1)

        standardized = (x - centre) / spread
        stream = dataclasses.replace(
            raw,
            lanes=[Converted(lane, converted) for lane in raw.lanes],
            layout=dataclasses.replace(raw.layout, num_features=x.shape[1]),
            sample=_data(standardized, observed.y, weights, ~is_held),
        )
        names = preparation.feature_names
        features = features_of(names, spread, preparation)
        positions = np.flatnonzero(is_held)
        problem = Problem(
            rows=Data(standardized, observed.y, weights),
            apart=Apart(positions, positions),
            likelihood=observed.likelihood,
            features=features,
            settings=settings_of_stream(
                learner.parameters,
                learner.recipe,
                (len(stream) + len(positions), *x.shape[1:]),
                len(positions),
                stream_outputs(observed),
            ),
            stream=stream,
        )
        solution = learner.solver(features, clock).solve(problem)
        before = np.concatenate([[0], np.cumsum(scanned.num_rows)])
        fitted = Fitted(
            **solution.of_first_fit,
            target=observed.target,
            input_centre=centre,
            input_spread=spread,
            feature_names=names,
            are_named=True,
            preparation=preparation,
            settings=problem.settings,
            validation_rows=np.sort((before[place.part] + place.row)[is_held]),
        )
        y = observed.y if isinstance(observed.target, Labels) else self.sample.y
        rows = Data(x, y, weights)
        numbers = before[place.part] + place.row
        examination = Examination(rows, numbers, positions, None, type(learner.recipe.method))
        # Of a table in time order, only some of the rows that were held out are known here.
        final = solution.final if held_out.after is None else None
        fitted = examination.concluded(fitted, final, clock)
        return StreamedFit(fitted, self.sample._replace(x=x), weights)

    def _stream(
        self,
        learner: Learner,
        observed: Observed,
        x: np.ndarray,
        trained: np.ndarray,
        weights: np.ndarray | None,
    ) -> Stream:
        """The rows as they are in the lanes, with targets on the model's scale."""
        num_targets = len(self.table.target)
        are_labels = isinstance(observed.target, Labels)
        size, group = x.shape[1], self.table.group

        def converted(numbers: np.ndarray) -> np.ndarray:
            if isinstance(observed.target, Labels):
                return numbers
            y = numbers[:, size : size + num_targets]
            y = observed.target.standardized(y if num_targets > 1 else y[:, 0])
            rest = numbers[:, size + num_targets :]
            y = np.reshape(y, (len(numbers), num_targets))
            return np.concatenate([numbers[:, :size], y, rest], axis=1)

        layout = Layout(
            size, num_targets if num_targets > 1 else 0, weights is not None, are_labels
        )
        lanes = [Converted(lane, converted) for lane in self.lanes]
        counted = group.gathered(np.array([sum(map(len, lanes))]))
        sample = _data(x, observed.y[trained], None if weights is None else weights[trained])
        seed = int(learner.parameters.random_state)
        return Stream(lanes, layout, sample, int(counted.sum()), group, seed)


def stream_outputs(observed: Observed) -> int:
    """The number of outputs that the function needs."""
    return observed.likelihood.num_outputs(observed.y)


def _data(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray | None, rows: np.ndarray | None = None
) -> Data:
    data = Data(x, y, weights)
    return data if rows is None else data.take(np.flatnonzero(rows))


def _check(learner: Learner) -> None:
    """Raise for what needs all rows in memory."""
    method = learner.recipe.method
    if not isinstance(method, GFSVI) or not learner.recipe.leaves_rows_out:
        raise TableError(
            "expected the method gfsvi for a table that is read piece by piece, got "
            f"{learner.recipe.name}; use that method, or `--in-memory`."
        )
    if learner.parameters.conformal != "none":
        raise TableError(
            "expected no guarantee for a table that is read piece by piece; leave `--guarantee` "
            "out, or use `--in-memory`."
        )


def _weighted(
    frame: "pandas.DataFrame", column: str | None
) -> "tuple[pandas.DataFrame, np.ndarray | None]":
    if column is None:
        return frame, None
    return frame.drop(columns=column), read_weights(frame, column)


def _prepared(frame: "pandas.DataFrame", table: StreamedTable, scanned: Scanned) -> Preparation:
    """How columns are used, as a sample suggests it and counts of all rows."""
    learned = Preparation.learn(frame, table.target, table.task)
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


def _held_out(learner: Learner, sample: PreparedTable, scanned: Scanned, seed: int) -> HeldOut:
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


def _numbers(
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
    frame, weights = _weighted(piece.frame(), table.weight)
    at = Place.of_piece(piece.part, piece.first, len(frame))
    used = preparation.usable_rows(frame) & ~held_out.of(at)
    rows = cast("pandas.DataFrame", frame[used])
    y = preparation.observations(rows)
    parts = [preparation.inputs(rows), np.reshape(y, (len(rows), len(table.target)))]
    if weights is not None:
        parts.append(weights[used][:, None])
    return np.concatenate(parts, axis=1)


def _observed(
    learner: Learner, preparation: Preparation, y: np.ndarray, weights: np.ndarray | None
) -> Observed:
    classes = preparation.classes
    if classes is None:
        return learner.observed_numbers_of(y, weights)
    return observed_numbers_of_classes(y, classes, learner.parameters.likelihood)


def _with_effects(
    preparation: Preparation, raw: Stream, observed: Observed
) -> tuple[Preparation, Callable[[np.ndarray], np.ndarray]]:
    """The preparation with the effects of categories, and how codes in rows become these."""
    places = preparation.features_of_columns
    outputs = stream_outputs(observed)
    waves = [
        place
        for column in preparation.columns
        if isinstance(column, Calendar)
        for place in places[column.name][len(column.date.feature_names) :]
    ]

    def basis(x: np.ndarray) -> np.ndarray:
        # A constant and the time of the shortest cycle.
        return np.concatenate([np.ones((len(x), 1)), x[:, waves[:2]]], axis=1)

    def targets(block: Data) -> np.ndarray:
        y = np.asarray(block.y)
        if isinstance(observed.target, Labels):
            return np.eye(len(observed.target.classes))[y]
        if observed.likelihood.has_gaussian_targets:
            return np.asarray(observed.likelihood.gaussian_targets(y, outputs).values).T
        return y.reshape(len(y), -1)

    found = {}
    for column in preparation.columns:
        if isinstance(column, Effects):
            (place,) = places[column.name]
            size = len(column.levels) + 1
            values = effects_of_levels(raw, place, size, basis, targets)
            found[column.name] = dataclasses.replace(column, values=values)
    columns = tuple(found.get(column.name, column) for column in preparation.columns)
    tables = {places[name][0]: column.values for name, column in found.items()}

    def expand(x: np.ndarray) -> np.ndarray:
        parts = [
            tables[i][x[:, i].astype(int)] if i in tables else x[:, i : i + 1]
            for i in range(x.shape[1])
        ]
        return np.concatenate(parts, axis=1)

    return dataclasses.replace(preparation, columns=columns), expand


def _with_checkpoint(learner: Learner, group: Group, folder: Path) -> Learner:
    path = learner.parameters.checkpoint
    if path is None:
        return learner
    own = checkpoint_of_first(group, str(path), folder)
    return dataclasses.replace(
        learner, parameters=dataclasses.replace(learner.parameters, checkpoint=own)
    )
