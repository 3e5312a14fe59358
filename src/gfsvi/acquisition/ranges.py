"""What values a column may take: as places between 0 and 1, as features, and as written."""

import dataclasses
from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class AbstractRange(ABC):
    """The values that a column may take in rows that are suggested."""

    name: str

    @abstractmethod
    def encoded(self, unit: np.ndarray) -> np.ndarray:
        """The features (row, feature) of places between 0 and 1."""

    @abstractmethod
    def written(self, unit: np.ndarray) -> np.ndarray:
        """The values that a user would write, (row,)."""

    @abstractmethod
    def located(self, features: np.ndarray) -> np.ndarray:
        """The places of features; those outside of the range are moved to its nearest value."""

    @abstractmethod
    def moved(self, unit: np.ndarray, width: float, random: np.random.Generator) -> np.ndarray:
        """Places about so far away."""


@dataclasses.dataclass(frozen=True)
class Interval(AbstractRange):
    """Numbers or dates between two ends.

    Args:
        name: The column.
        low: The lower end.
        high: The upper end.
        step: The distance of admitted values, counted from the lower end; 0 if all are.
        num_marks: How many features follow the number and say that it is missing, which it is not.
        first_day: For dates, the day that is zero.
    """

    name: str
    low: float
    high: float
    step: float = 0.0
    num_marks: int = 0
    first_day: str | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite([self.low, self.high]).all() and self.low <= self.high):
            raise ValueError(
                f"the bounds of `{self.name}` expect a lower and an upper end; got {self.low:g} "
                f"and {self.high:g}. Write the smaller number first."
            )
        if not 0 <= self.step < np.inf:
            raise ValueError(
                f"the bounds of `{self.name}` expect a positive step; got {self.step:g}. Leave it "
                "out to admit all numbers."
            )

    def encoded(self, unit: np.ndarray) -> np.ndarray:
        marks = np.zeros((len(unit), self.num_marks))
        return np.concatenate([self._values(unit)[:, None], marks], axis=1)

    def written(self, unit: np.ndarray) -> np.ndarray:
        values = self._values(unit)
        if self.first_day is not None:
            return _day(self.first_day) + np.round(values).astype("timedelta64[D]")
        whole = self.step > 0 and float(self.step).is_integer() and float(self.low).is_integer()
        return values.astype(np.int64) if whole else values

    def located(self, features: np.ndarray) -> np.ndarray:
        values = np.clip(features[:, 0], self.low, self.high)
        if self.step:
            return (np.round((values - self.low) / self.step) + 0.5) / self._num_steps
        return (values - self.low) / max(self.high - self.low, np.finfo(float).tiny)

    def moved(self, unit: np.ndarray, width: float, random: np.random.Generator) -> np.ndarray:
        width = max(width, 1 / self._num_steps if self.step else 0.0)
        return np.clip(unit + width * random.normal(size=len(unit)), 0, 1)

    def _values(self, unit: np.ndarray) -> np.ndarray:
        if not self.step:
            return self.low + unit * (self.high - self.low)
        place = np.minimum(np.floor(unit * self._num_steps), self._num_steps - 1)
        return self.low + place * self.step

    @property
    def _num_steps(self) -> int:
        return int(np.floor((self.high - self.low) / self.step + 1e-9)) + 1


@dataclasses.dataclass(frozen=True)
class Levels(AbstractRange):
    """Some values, in no order.

    Args:
        name: The column.
        values: The values as users write them.
        codes: The features of each value, (value, feature).
    """

    name: str
    values: tuple[Any, ...]
    codes: np.ndarray

    def encoded(self, unit: np.ndarray) -> np.ndarray:
        return self.codes[self._places(unit)]

    def written(self, unit: np.ndarray) -> np.ndarray:
        return np.array(self.values)[self._places(unit)]

    def located(self, features: np.ndarray) -> np.ndarray:
        distances = np.sum((features[:, None, :] - self.codes) ** 2, axis=-1)
        return (np.argmin(distances, axis=1) + 0.5) / len(self.values)

    def moved(self, unit: np.ndarray, width: float, random: np.random.Generator) -> np.ndarray:
        return random.uniform(size=len(unit))

    def _places(self, unit: np.ndarray) -> np.ndarray:
        return np.minimum((unit * len(self.values)).astype(int), len(self.values) - 1)


def days_after(first_day: str, day: str, column: str) -> float:
    """The number of days from the first day to a day that a user wrote."""
    try:
        return float((np.datetime64(day, "D") - _day(first_day)) / np.timedelta64(1, "D"))
    except ValueError:
        raise ValueError(
            f"the bounds of `{column}` expect days such as 2026-01-31; got {day!r}. Write them so."
        ) from None


def _day(text: str) -> np.datetime64:
    return np.datetime64(text, "D")
