"""A fit and its training table, seen row by row."""

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import Labels
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.report.evidence import JudgedOn
from gfsvi.tables import PreparedTable, TimeOrder
from gfsvi.tables.columns import AbstractColumn, Categories, Date

if TYPE_CHECKING:
    import pandas as pd

# A page shows ten rows and a few hundred dots: beyond this more rows only cost time.
MAX_ROWS = 5000


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the table and the positions of its features.

    Text has levels; dates are days since the first one.
    """

    name: str
    features: tuple[int, ...]
    levels: tuple[str, ...] | None
    first_day: str | None = None


@dataclasses.dataclass(frozen=True)
class Case:
    """Rows of the table that have a target, with the inputs the model sees.

    `x`, `y` and `weights` have one row for each of `frame`; `held_out` marks those that predictions
    are judged on, which may have been learned afterwards.
    """

    fitted: Fitted
    frame: "pd.DataFrame"
    numbers: np.ndarray
    targets: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    held_out: np.ndarray
    weights: np.ndarray | None = None
    time_order: TimeOrder | None = None

    @property
    def is_classification(self) -> bool:
        """Whether the target is a label."""
        return isinstance(self.fitted.target, Labels)

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels as the table spells them."""
        target = self.fitted.target
        return tuple(map(str, target.classes)) if isinstance(target, Labels) else ()

    @property
    def judged(self) -> np.ndarray:
        """Positions of the rows that predictions are judged on."""
        if self.fitted.first_predictions is not None:
            return self.fitted.first_predictions.rows
        rows = np.flatnonzero(self.held_out)
        return thinned(rows if len(rows) else np.arange(len(self.x)))

    @cached_property
    def left_out(self) -> AbstractPredictive | None:
        """The judged rows, each predicted without itself; None if that is not how they are."""
        if self.held_out.any():
            return None
        weights = None if self.weights is None else self.weights[self.judged]
        return self.fitted.left_out(self.x[self.judged], self.y[self.judged], weights)

    @property
    def judged_on(self) -> JudgedOn:
        """What the judged rows are to the model."""
        if self.held_out.any():
            return "future" if self._is_future_held_out else "held_out"
        return "trained" if self.left_out is None else "left_out"

    @property
    def _is_future_held_out(self) -> bool:
        if self.time_order is None:
            return False
        times = self.time_order.times
        return bool(np.min(times[self.held_out]) >= np.max(times[self.trained]))

    @property
    def predictions(self) -> AbstractPredictive:
        """The predictions of the judged rows."""
        if self.fitted.first_predictions is not None:
            return self.fitted.first_predictions.predictive
        if self.left_out is not None:
            return self.left_out
        return self.fitted.predict(self.x[self.judged])

    @property
    def trained(self) -> np.ndarray:
        """Positions of the rows that were trained on before predictions were judged."""
        return np.flatnonzero(~self.held_out) if not self.held_out.all() else np.arange(len(self.x))

    @property
    def learned(self) -> np.ndarray:
        """Positions of all rows that the model has learned from."""
        is_all = self.fitted.first_predictions is not None
        return np.arange(len(self.x)) if is_all else self.trained

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the table that the model uses."""
        names, preparation = self.fitted.feature_names, self.fitted.preparation
        if preparation is None:
            return tuple(Column(name, (i,), None) for i, name in enumerate(names))
        recipes = {recipe.name: recipe for recipe in preparation.columns}
        return tuple(
            Column(name, features, _levels(recipes[name]), _first_day(recipes[name]))
            for name, features in preparation.features_of_columns.items()
        )


def _levels(recipe: AbstractColumn) -> tuple[str, ...] | None:
    if not isinstance(recipe, Categories):
        return None
    return tuple(_level(recipe.name, name) for name in recipe.feature_names)


def _first_day(recipe: AbstractColumn) -> str | None:
    return recipe.first if isinstance(recipe, Date) else None


def _level(column: str, feature: str) -> str:
    """What a 0/1 feature stands for: `colour = red` for red, `colour is missing` for missing."""
    rest = feature.removeprefix(column)
    return rest.removeprefix(" = ") if rest.startswith(" = ") else rest.removeprefix(" is ")


def build_case(
    fitted: Fitted,
    table: PreparedTable,
    targets: tuple[str, ...],
    weights: np.ndarray | None = None,
) -> Case:
    """Number the rows that were prepared for the fit, and mark those that were held out.

    `weights` has the weights of all rows of the table, including those without a target.
    """
    held_out = np.zeros(len(table.x), bool)
    held_out[np.asarray(fitted.validation_rows, int)] = True
    numbers = np.flatnonzero(table.usable) + 1
    weights = None if weights is None else np.asarray(weights, np.float64)[table.usable]
    order = table.time_order
    return Case(fitted, table.frame, numbers, targets, table.x, table.y, held_out, weights, order)


def prepared_table(
    fitted: Fitted, frame: "pd.DataFrame", targets: tuple[str, ...]
) -> PreparedTable:
    """Prepare a training table as it was prepared for the fit."""
    if fitted.preparation is not None:
        return fitted.preparation.prepare(frame)
    frame = frame.rename(columns=str)
    x = frame[list(fitted.feature_names)].to_numpy(np.float64)
    y = _plain_observations(fitted, frame, targets)
    return PreparedTable(frame.reset_index(drop=True), np.ones(len(frame), bool), x, y)


def _plain_observations(
    fitted: Fitted, frame: "pd.DataFrame", targets: tuple[str, ...]
) -> np.ndarray:
    values = frame[list(targets)].to_numpy()
    values = values[:, 0] if len(targets) == 1 else values
    if isinstance(fitted.target, Labels):
        return np.searchsorted(np.array(fitted.target.classes), values)
    return np.asarray(values, np.float64)


def thinned(rows: np.ndarray) -> np.ndarray:
    """Choose at most `MAX_ROWS` rows, evenly spaced."""
    if len(rows) <= MAX_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MAX_ROWS).astype(int)]


def intervals(predictive: AbstractRealPredictive) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper ends of the 95 % intervals."""
    low, high = np.asarray(predictive.quantile(np.array([0.025, 0.975])), np.float64)
    return low, high
