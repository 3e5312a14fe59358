"""The effects of categories of which there are many, from all rows of a stream."""

import dataclasses
from collections.abc import Callable

import numpy as np

from gfsvi.auto.targets import Labels, Observed
from gfsvi.data import Data
from gfsvi.streams.effects import effects_of_levels
from gfsvi.streams.stream import Stream
from gfsvi.tables import Preparation
from gfsvi.tables.many_rows import Calendar, Effects


def stream_outputs(observed: Observed) -> int:
    """The number of outputs that the function needs."""
    return observed.likelihood.num_outputs(observed.y)


def with_effects(
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
