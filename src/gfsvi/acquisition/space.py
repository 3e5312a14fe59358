"""The space of rows that could be measured."""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import qmc

from gfsvi.acquisition.ranges import AbstractRange, Interval, Levels, days_after
from gfsvi.auto.fitted import Fitted
from gfsvi.tables.columns import AbstractColumn, Categories, Date, Numeric

WHOLE = 1e-6
"""Numbers this close to whole ones are whole."""
MOVED_AT_ONCE = 8
"""About as many columns change in a step nearby, all of them if there are fewer."""


@dataclasses.dataclass(frozen=True)
class Space:
    """Rows whose columns vary independently.

    Args:
        ranges: The values of each column, in the order of the features.
        widths: The number of features of each column.
    """

    ranges: tuple[AbstractRange, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, fitted: Fitted, known: np.ndarray, bounds: Mapping[str, Any]) -> "Space":
        """The space within these bounds, and for other columns within the rows that are known.

        Args:
            fitted: The fit.
            known: Rows that were measured, as features.
            bounds: For each column (low, high), (low, high, step), a list of values or one value.
                Columns that hold whole numbers keep to them unless a step is given.
        """
        columns = _columns(fitted)
        _check_names(bounds, [column.name for column in columns])
        widths = tuple(len(column.feature_names) for column in columns)
        ends = np.cumsum((0, *widths))
        ranges = [
            _range(column, bounds.get(column.name), known[:, first:last])
            for column, first, last in zip(columns, ends[:-1], ends[1:], strict=True)
        ]
        return cls(tuple(ranges), widths)

    def spread(self, num_rows: int, random: np.random.Generator) -> np.ndarray:
        """Places (row, column) spread evenly over the space; a power of two of them."""
        return qmc.Sobol(len(self.ranges), rng=random).random(num_rows)

    def near(
        self, places: np.ndarray, num_rows: int, width: float, random: np.random.Generator
    ) -> np.ndarray:
        """As many places for each of these, some of whose columns have moved about so far."""
        centres = np.repeat(places, num_rows, axis=0)
        parts = zip(self.ranges, centres.T, strict=True)
        moved = np.stack([part.moved(unit, width, random) for part, unit in parts], axis=1)
        chosen = random.uniform(size=centres.shape) < MOVED_AT_ONCE / centres.shape[1]
        chosen[np.arange(len(centres)), random.integers(centres.shape[1], size=len(centres))] = True
        return np.where(chosen, moved, centres)

    def rows(self, places: np.ndarray) -> np.ndarray:
        """The features of places."""
        parts = zip(self.ranges, places.T, strict=True)
        return np.concatenate([part.encoded(unit) for part, unit in parts], axis=1)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """The places nearest to rows of features."""
        split = np.split(rows, np.cumsum(self.widths)[:-1], axis=1)
        return np.stack(
            [part.located(some) for part, some in zip(self.ranges, split, strict=True)], axis=1
        )

    def written(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of places as users write them."""
        parts = zip(self.ranges, places.T, strict=True)
        return {part.name: part.written(unit) for part, unit in parts}


def _columns(fitted: Fitted) -> list[AbstractColumn]:
    """The columns that the fit uses; those of an array are numbers."""
    if fitted.preparation is None:
        return [Numeric(name, 0.0, False) for name in fitted.feature_names]
    return [column for column in fitted.preparation.columns if column.feature_names]


def _check_names(bounds: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in bounds:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            question = f" Did you mean `{near[0]}`?" if near else ""
            listed = ", ".join(f"`{column}`" for column in names)
            raise ValueError(
                f"bounds expect columns that the model uses, {listed}; got `{name}`.{question}"
            )


def _range(column: AbstractColumn, bound: Any, known: np.ndarray) -> AbstractRange:
    if isinstance(column, Categories):
        return _levels(column, bound)
    assert isinstance(column, Numeric | Date)
    marks = len(column.feature_names) - 1
    first_day = column.first.partition("T")[0] if isinstance(column, Date) else None
    bound = (known[:, 0].min(), known[:, 0].max()) if bound is None else bound
    if not isinstance(bound, tuple):
        values = bound if isinstance(bound, list) else [bound]
        numbers = np.array([[_number(value, column.name, first_day)] for value in values])
        codes = np.concatenate([numbers, np.zeros((len(values), marks))], axis=1)
        return Levels(column.name, tuple(values), codes)
    if len(bound) not in (2, 3):
        raise ValueError(
            f"the bounds of `{column.name}` expect low and high, or low, high and a step; got "
            f"{len(bound)} numbers. Write `{column.name}=low:high`."
        )
    low, high = (_number(end, column.name, first_day) for end in bound[:2])
    is_whole = first_day is not None or _are_whole([low, high, *known[:, 0]])
    step = _number(bound[2], column.name, None) if len(bound) == 3 else float(is_whole)
    return Interval(column.name, low, high, step, marks, first_day)


def _levels(column: Categories, bound: Any) -> Levels:
    if isinstance(bound, tuple):
        raise ValueError(
            f"the bounds of `{column.name}` expect categories, as it is text; got an interval. "
            f"Write `{column.name}={','.join(column.levels[:2])}`."
        )
    asked = [bound] if isinstance(bound, str) else bound
    values = tuple(column.levels if asked is None else map(str, asked))
    for value in values:
        if value not in column.levels:
            known = ", ".join(column.levels[:10])
            raise ValueError(
                f"the bounds of `{column.name}` expect categories of the training rows, {known}; "
                f"got {value!r}. Choose among them."
            )
    places = [column.levels.index(value) for value in values]
    return Levels(column.name, values, np.eye(len(column.feature_names))[places])


def _number(value: Any, column: str, first_day: str | None) -> float:
    if first_day is not None and isinstance(value, str):
        return days_after(first_day, value, column)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"the bounds of `{column}` expect numbers; got {value!r}. Correct it."
        ) from None


def _are_whole(values: Sequence[float]) -> bool:
    return bool(np.all(np.abs(np.asarray(values) - np.round(values)) < WHOLE))
