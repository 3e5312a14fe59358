"""Recipes of columns for tables with many rows: what each of many categories does, and cycles."""

import dataclasses
import math
from typing import TYPE_CHECKING, final

import numpy as np

from gfsvi.tables.cells import read_texts
from gfsvi.tables.columns import AbstractColumn, Categories, Date
from gfsvi.tables.sentences import missing_note

if TYPE_CHECKING:
    import pandas

MOST_LEVELS = 1000
"""As many as a model file may hold."""
FEWEST_ROWS = 20
"""Of a category with numbers of its own."""
CYCLES = {"day": 1.0, "week": 7.0, "year": 365.2425}
"""Cycles of dates, in days."""
NUM_CYCLES = 2
"""Dates that span as many of a cycle can tell what it does."""


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Effects(AbstractColumn):
    """Text with many levels: a few numbers for each level, and for all others.

    Args:
        name: The column.
        levels: The levels with numbers of their own.
        values: Their numbers, (level + 1, number); the last row is for all others.
    """

    name: str
    levels: tuple[str, ...]
    values: np.ndarray

    def __post_init__(self) -> None:
        if len(set(self.levels)) < len(self.levels) or np.ndim(self.values) != 2:
            raise ValueError(f"Effects expects different levels; `{self.name:.50}` repeats one.")
        if len(self.values) != len(self.levels) + 1 or not np.all(np.isfinite(self.values)):
            raise ValueError(f"Effects expects numbers for all levels of `{self.name:.50}`.")

    @classmethod
    def codes(cls, name: str, levels: tuple[str, ...]) -> "Effects":
        """The position of each level as its only number, before its effects are known."""
        return cls(name, levels, np.arange(len(levels) + 1.0)[:, None])

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} (effect {i})" for i in range(1, self.values.shape[1] + 1))

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        codes, texts = read_texts(cells)
        places = {level: place for place, level in enumerate(self.levels)}
        other = len(self.levels)
        place = np.array([*(places.get(text, other) for text in texts), other])[codes]
        return np.asarray(self.values)[place]

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        return (
            f"column `{self.name}` has {len(self.levels)} categories with at least {FEWEST_ROWS} "
            "rows; each is described by its effects on the target.",
        )

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        remedy = "treated like rare categories"
        note = missing_note(cells, read_texts(cells)[0] < 0, remedy, surprising=True)
        return (note,) if note else ()


@final
@dataclasses.dataclass(frozen=True)
class Calendar(AbstractColumn):
    """Dates and times, as days since the first one and as places in cycles.

    Args:
        date: The days.
        cycles: The names of the cycles, such as "day" and "week".
    """

    date: Date
    cycles: tuple[str, ...]

    def __post_init__(self) -> None:
        if not set(self.cycles) <= set(CYCLES):
            raise ValueError(f"Calendar expects cycles among {', '.join(CYCLES)}.")

    @property
    def name(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name of the column."""
        return self.date.name

    @property
    def feature_names(self) -> tuple[str, ...]:
        waves = (f"{self.name} ({wave} of {c})" for c in self.cycles for wave in ("sine", "cosine"))
        return (*self.date.feature_names, *waves)

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        days = self.date.encode(cells)
        first = np.datetime64(self.date.first, "ms")
        # From midnight of a Monday, so that phases do not depend on the first date.
        began = (first - np.datetime64("1970-01-05", "ms")) / np.timedelta64(1, "D")
        angles = [2 * math.pi * (days[:, 0] + began) / CYCLES[cycle] for cycle in self.cycles]
        waves = [wave(angle)[:, None] for angle in angles for wave in (np.sin, np.cos)]
        return np.concatenate([days, *waves], axis=1)

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        cycles = " and ".join(f"the time of the {cycle}" for cycle in self.cycles)
        return (*self.date.remarks(cells), f"column `{self.name}` tells {cycles} as well.")

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        return self.date.surprises(cells)


def for_many_rows(
    column: AbstractColumn, days: np.ndarray, counts: dict[str, int]
) -> AbstractColumn:
    """The recipe of a column of a table with many rows.

    Args:
        column: The recipe that some of the rows suggest.
        days: For dates, those of some rows, in days.
        counts: How often each text of the column occurs in all rows, if it is text.
    """
    if isinstance(column, Date):
        cycles = tuple(name for name, length in CYCLES.items() if _tells(days, name, length))
        return Calendar(column, cycles) if cycles else column
    if isinstance(column, Categories) and column.has_other and counts:
        frequent = sorted(counts, key=lambda text: (-counts[text], text))[:MOST_LEVELS]
        levels = tuple(text for text in frequent if counts[text] >= FEWEST_ROWS)
        return Effects.codes(column.name, levels) if len(levels) > 1 else column
    return column


def _tells(days: np.ndarray, name: str, length: float) -> bool:
    """Whether dates span some cycles and are at more than one place in them."""
    if np.ptp(days) < NUM_CYCLES * length:
        return False
    return name != "day" or bool(np.ptp(days % 1.0) > 0.05)
