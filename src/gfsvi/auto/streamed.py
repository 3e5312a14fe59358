"""From a table that is larger than memory to a fit.

Two passes over the table: one for a sample of rows, which decides how columns are used, on the
prior and on the measurement points, and one that turns all rows into numbers, in temporary files.
Training, sums and the effects of categories then read these numbers, block by block.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gfsvi.auto.agreement import checkpoint_of_first
from gfsvi.auto.examination import Examination
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.holding_out import Apart
from gfsvi.auto.learner import Learner
from gfsvi.auto.problem import Problem
from gfsvi.auto.rows import centre_and_spread
from gfsvi.auto.solving import settings_of_stream
from gfsvi.auto.streamed_effects import stream_outputs, with_effects
from gfsvi.auto.streamed_numbers import (
    StreamedTable,
    held_out_rows,
    lanes_of_table,
    prepared_columns,
    weighted,
)
from gfsvi.auto.targets import Labels, Observed, observed_numbers_of_classes
from gfsvi.auto.units import Feature, features_of
from gfsvi.data import Data
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.numerics.clock import Clock
from gfsvi.numerics.groups import Group, own_lanes
from gfsvi.numerics.threads import limit_threads
from gfsvi.streams.lanes import Converted, Lane
from gfsvi.streams.sampling import HeldOut, Place
from gfsvi.streams.scan import Scanned, scan
from gfsvi.streams.scratch import scratch
from gfsvi.streams.stream import Layout, Stream
from gfsvi.tables import Preparation, PreparedTable
from gfsvi.tables.reading import TableError


class StreamedFit(NamedTuple):
    """A fit, and the sample of rows that its page may show, with their weights."""

    fitted: Fitted
    sample: PreparedTable
    weights: np.ndarray | None


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
    frame, weights = weighted(scanned.sample, table.weight)
    preparation = prepared_columns(frame, table, scanned)
    learner = learner_for(preparation)
    _check(learner)
    sample = preparation.prepare(frame)
    held_out = held_out_rows(learner, sample, scanned, seed)
    width = len(preparation.feature_names) + len(table.target) + (weights is not None)
    few = limit_threads(int(scanned.num_rows.sum()))
    with few, scratch(own_lanes(table.group), width) as place:
        lanes = lanes_of_table(scanned, table, preparation, held_out, place)
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
        preparation, expand = with_effects(self.preparation, raw, observed)
        x = expand(self.sample.x)
        scale = centre_and_spread(x, weights)
        rows = Data((x - scale[0]) / scale[1], observed.y, weights)
        stream = _standardized(raw, expand, scale, rows.take(np.flatnonzero(~is_held)))
        features = features_of(preparation.feature_names, scale[1], preparation)
        positions = np.flatnonzero(is_held)
        problem = _problem(learner, rows, stream, positions, observed, features)
        solution = learner.solver(features, clock).solve(problem)
        numbers = np.concatenate([[0], np.cumsum(scanned.num_rows)])[place.part] + place.row
        fitted = Fitted(
            **solution.of_first_fit,
            target=observed.target,
            input_centre=scale[0],
            input_spread=scale[1],
            feature_names=preparation.feature_names,
            are_named=True,
            preparation=preparation,
            settings=problem.settings,
            validation_rows=np.sort(numbers[is_held]),
        )
        y = observed.y if isinstance(observed.target, Labels) else self.sample.y
        known = Data(x, y, weights)
        examination = Examination(known, numbers, positions, None, type(learner.recipe.method))
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
        sample = Data(x, observed.y[trained], None if weights is None else weights[trained])
        seed = int(learner.parameters.random_state)
        return Stream(lanes, layout, sample, int(counted.sum()), group, seed)


def _standardized(
    raw: Stream,
    expand: Callable[[np.ndarray], np.ndarray],
    scale: tuple[np.ndarray, np.ndarray],
    sample: Data,
) -> Stream:
    """A stream of standardised inputs, from one of inputs as they are in the table."""
    size = raw.layout.num_features

    def converted(numbers: np.ndarray) -> np.ndarray:
        rows = (expand(numbers[:, :size]) - scale[0]) / scale[1]
        return np.concatenate([rows, numbers[:, size:]], axis=1)

    return dataclasses.replace(
        raw,
        lanes=[Converted(lane, converted) for lane in raw.lanes],
        layout=dataclasses.replace(raw.layout, num_features=sample.x.shape[1]),
        sample=sample,
    )


def _problem(
    learner: Learner,
    rows: Data,
    stream: Stream,
    held_out: np.ndarray,
    observed: Observed,
    features: tuple[Feature, ...],
) -> Problem:
    """The rows of the sample, some of which are held out, and the stream of those to train on."""
    shape = (len(stream) + len(held_out), *rows.x.shape[1:])
    outputs = stream_outputs(observed)
    return Problem(
        rows=rows,
        apart=Apart(held_out, held_out),
        likelihood=observed.likelihood,
        features=features,
        settings=settings_of_stream(
            learner.parameters, learner.recipe, shape, len(held_out), outputs
        ),
        stream=stream,
    )


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


def _observed(
    learner: Learner, preparation: Preparation, y: np.ndarray, weights: np.ndarray | None
) -> Observed:
    classes = preparation.classes
    if classes is None:
        return learner.observed_numbers_of(y, weights)
    return observed_numbers_of_classes(y, classes, learner.parameters.likelihood)


def _with_checkpoint(learner: Learner, group: Group, folder: Path) -> Learner:
    path = learner.parameters.checkpoint
    if path is None:
        return learner
    own = checkpoint_of_first(group, str(path), folder)
    return dataclasses.replace(
        learner, parameters=dataclasses.replace(learner.parameters, checkpoint=own)
    )
