"""A fitted estimator and its table, seen row by row."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# A page shows ten rows and a few hundred dots: beyond this more rows only cost time.
MAX_ROWS = 5000


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the table and the features made of it, by position; text has levels."""

    name: str
    features: tuple[int, ...]
    levels: tuple[str, ...] | None


@dataclasses.dataclass(frozen=True)
class Case:
    """Rows of the table that have a target, with the inputs the model sees.

    `x` and `y` have one row for each of `frame`; `held_out` marks those not trained on.
    """

    estimator: Any
    frame: "pd.DataFrame"
    numbers: np.ndarray
    targets: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    held_out: np.ndarray

    @property
    def is_classification(self) -> bool:
        """Whether the target is a label."""
        return hasattr(self.estimator, "classes_")

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels as the table spells them."""
        prepared = getattr(self.estimator.preparation_, "classes", None)
        return tuple(map(str, self.estimator.classes_ if prepared is None else prepared))

    @property
    def judged(self) -> np.ndarray:
        """Positions of the rows that predictions are judged on."""
        rows = np.flatnonzero(self.held_out)
        return thinned(rows if len(rows) else np.arange(len(self.x)))

    @property
    def trained(self) -> np.ndarray:
        """Positions of the rows that were learned from."""
        return np.flatnonzero(~self.held_out) if not self.held_out.all() else np.arange(len(self.x))

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the table that the model uses."""
        names, preparation = self.estimator.feature_names_, self.estimator.preparation_
        if preparation is None:
            return tuple(Column(name, (i,), None) for i, name in enumerate(names))
        columns, start = [], 0
        for recipe in preparation.columns:
            end = start + len(recipe.feature_names)
            if end > start:
                has_levels = hasattr(recipe, "levels")
                levels = tuple(_level(recipe.name, name) for name in recipe.feature_names)
                positions = tuple(range(start, end))
                columns.append(Column(recipe.name, positions, levels if has_levels else None))
            start = end
        return tuple(columns)


def _level(column: str, feature: str) -> str:
    """What a 0/1 feature stands for: `colour = red` for red, `colour is missing` for missing."""
    rest = feature.removeprefix(column)
    return rest.removeprefix(" = ") if rest.startswith(" = ") else rest.removeprefix(" is ")


def build_case(estimator: Any, frame: "pd.DataFrame", target: str | Sequence[str]) -> Case:
    """Prepare the table as it was prepared for the fit."""
    targets = (target,) if isinstance(target, str) else tuple(target)
    frame = frame.rename(columns=str)
    preparation = estimator.preparation_
    if preparation is None:
        usable = np.ones(len(frame), bool)
        x = frame[list(estimator.feature_names_)].to_numpy(np.float64)
        y = _plain_observations(estimator, frame, targets)
    else:
        usable = np.asarray(preparation.usable_rows(frame), bool)
        x = np.asarray(preparation.inputs(frame[usable]), np.float64)
        y = np.asarray(preparation.observations(frame[usable]))
    held_out = np.zeros(len(x), bool)
    held_out[np.asarray(estimator.validation_rows_, int)] = True
    numbers = np.flatnonzero(usable) + 1
    return Case(estimator, frame[usable].reset_index(drop=True), numbers, targets, x, y, held_out)


def _plain_observations(
    estimator: Any, frame: "pd.DataFrame", targets: tuple[str, ...]
) -> np.ndarray:
    values = frame[list(targets)].to_numpy()
    values = values[:, 0] if len(targets) == 1 else values
    if hasattr(estimator, "classes_"):
        return np.searchsorted(np.asarray(estimator.classes_), values)
    return np.asarray(values, np.float64)


def thinned(rows: np.ndarray) -> np.ndarray:
    """At most `MAX_ROWS` of the rows, evenly spread."""
    if len(rows) <= MAX_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MAX_ROWS).astype(int)]


def intervals(predictive: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the 95 % intervals, from one look at the quantiles."""
    low, high = np.asarray(predictive.quantile(np.array([0.025, 0.975])), np.float64)
    return low, high
