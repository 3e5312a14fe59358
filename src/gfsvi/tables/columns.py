"""Recipes: how one column of a table becomes columns of a matrix."""

import dataclasses
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from gfsvi.tables.cells import DATE_STYLES, Numbers, has_value, read_dates, read_numbers, read_texts
from gfsvi.tables.reading import TableError
from gfsvi.tables.recognition import are_few
from gfsvi.tables.sentences import (
    distinct,
    examples,
    infinite_note,
    missing_note,
    row_count,
    words_note,
)

if TYPE_CHECKING:
    import pandas


class AbstractColumn(ABC):
    """How one column of a table becomes columns of a matrix."""

    name: str

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The name of each column of the matrix."""

    @abstractmethod
    def encode(self, cells: "pandas.Series") -> np.ndarray:
        """Encode cells as finite numbers (row, feature)."""

    @abstractmethod
    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        """What a user should know about how the training cells are used, as sentences."""

    @abstractmethod
    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        """What occurs in these cells but did not occur in training, as sentences."""


class AbstractMeasurement(AbstractColumn):
    """A column of numbers: missing ones are filled with the median and marked by a 0/1 feature."""

    content: ClassVar[str]
    median: float
    has_missing: bool

    @property
    @abstractmethod
    def value_name(self) -> str:
        """The name of the feature that holds the numbers."""

    @property
    @abstractmethod
    def median_in_words(self) -> str:
        """The median as a user would write it."""

    @abstractmethod
    def read(self, cells: "pandas.Series") -> Numbers:
        """Parse cells as numbers."""

    @abstractmethod
    def reading_note(self, cells: "pandas.Series", parsed: np.ndarray) -> str:
        """Say how the parsed cells were understood, unless it is obvious."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        mark = (f"{self.name} is missing",) if self.has_missing else ()
        return (self.value_name, *mark)

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        numbers = self.read(cells)
        if not are_few(numbers.words, cells):
            raise TableError(
                f"expected {self.content} in column `{self.name}`, as in training, got "
                f"{examples(cells, numbers.words)} in {row_count(numbers.words)}; "
                "correct these cells or leave them empty."
            )
        missing = np.isnan(numbers.values)
        filled = np.where(missing, self.median, numbers.values)
        features = [filled, missing.astype(float)] if self.has_missing else [filled]
        return np.stack(features, axis=1)

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        numbers, present = self.read(cells), has_value(cells)
        unread = np.isnan(numbers.values) & ~numbers.infinite
        remedy = f"filled with the median and marked by `{self.feature_names[-1]}`"
        return _sentences(
            self.reading_note(cells, ~unread),
            words_note(cells, unread & present, self.content),
            infinite_note(cells, numbers.infinite),
            missing_note(cells, unread & ~present, remedy),
        )

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        numbers = self.read(cells)
        missing = np.isnan(numbers.values) & ~numbers.words & ~numbers.infinite
        remedy = f"filled with the median {self.median_in_words}"
        return _sentences(
            words_note(cells, numbers.words, self.content),
            infinite_note(cells, numbers.infinite),
            "" if self.has_missing else missing_note(cells, missing, remedy, surprising=True),
        )


@final
@dataclasses.dataclass(frozen=True)
class Numeric(AbstractMeasurement):
    """Numbers and booleans."""

    content: ClassVar[str] = "numbers"
    name: str
    median: float
    has_missing: bool
    missing_words: tuple[str, ...] = ()

    @property
    def value_name(self) -> str:
        return self.name

    @property
    def median_in_words(self) -> str:
        return f"{self.median:.4g}"

    def read(self, cells: "pandas.Series") -> Numbers:
        return read_numbers(cells, self.missing_words)

    def reading_note(self, cells: "pandas.Series", parsed: np.ndarray) -> str:
        # Only text needs a note, and searching a million distinct numbers would take a minute.
        texts = distinct(cells, parsed) if cells.dtype.kind == "O" else ()
        unusual = [text for text in texts if text.lower() not in ("true", "false")]
        if not unusual:
            return ""
        shown = ", ".join(f"'{text}'" for text in unusual[:3])
        return f"column `{self.name}` is text that was read as numbers ({shown})."


@final
@dataclasses.dataclass(frozen=True)
class Date(AbstractMeasurement):
    """Dates and times, as days since the first one."""

    content: ClassVar[str] = "dates"
    name: str
    first: str
    median: float
    has_missing: bool
    missing_words: tuple[str, ...] = ()
    style: str = DATE_STYLES[0]

    def __post_init__(self) -> None:
        if self.style not in DATE_STYLES:
            styles = ", ".join(DATE_STYLES)
            raise ValueError(f"Date expects a style among {styles}; got {self.style!r:.50}.")
        if np.isnat(np.datetime64(self.first, "ms")):
            raise ValueError(f"Date expects a first date; got {self.first!r}.")

    @property
    def value_name(self) -> str:
        return f"{self.name} (days since {self._first_day})"

    @property
    def median_in_words(self) -> str:
        passed = np.timedelta64(int(self.median * 86_400_000), "ms")
        return f"date {(np.datetime64(self.first, 'ms') + passed).astype('datetime64[D]')}"

    def read(self, cells: "pandas.Series") -> Numbers:
        times, words = read_dates(cells, self.missing_words, self.style)
        return Numbers(days_since(self.first, times), words, np.zeros(len(cells), bool))

    def reading_note(self, cells: "pandas.Series", parsed: np.ndarray) -> str:
        order = "" if self.style == DATE_STYLES[0] else f", {self.style}"
        since = f"converted to days since {self._first_day}"
        return f"column `{self.name}` holds dates{order}; {since}."

    @property
    def _first_day(self) -> str:
        return self.first.partition("T")[0]


@final
@dataclasses.dataclass(frozen=True)
class Categories(AbstractColumn):
    """Text: a 0/1 feature for each frequent level, for all other levels and for missing cells."""

    name: str
    levels: tuple[str, ...]
    has_other: bool
    has_missing: bool

    def __post_init__(self) -> None:
        if len(set(self.levels)) < len(self.levels):
            raise ValueError(f"Categories expects different levels; `{self.name:.50}` repeats one.")

    @property
    def feature_names(self) -> tuple[str, ...]:
        names = [f"{self.name} = {level}" for level in self.levels]
        names += [f"{self.name} is other"] * self.has_other
        return (*names, *[f"{self.name} is missing"] * self.has_missing)

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        codes, texts = read_texts(cells)
        places = {level: place for place, level in enumerate(self.levels)}
        width = len(self.feature_names)
        # The column after the last is cut off, which leaves all zeros.
        other = len(self.levels) if self.has_other else width
        missing = width - 1 if self.has_missing else width
        place = np.array([*(places.get(text, other) for text in texts), missing])[codes]
        encoded = np.zeros((len(place), width + 1))
        encoded[np.arange(len(place)), place] = 1.0
        return encoded[:, :width]

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        codes, texts = read_texts(cells)
        merged = (
            f"column `{self.name}` has {len(texts)} categories; the {len(self.levels)} "
            "most frequent are kept and all others are merged into one."
        )
        remedy = f"these form a separate category, `{self.feature_names[-1]}`"
        missing = missing_note(cells, codes < 0, remedy)
        return _sentences(merged if self.has_other else "", missing)

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        codes, texts = read_texts(cells)
        known = np.array([*(text in self.levels for text in texts), True])[codes]
        remedy = "encoded as none of the known categories"
        return _sentences(
            # Where rare levels were merged in training, another one is no surprise.
            "" if self.has_other else self._unknown_note(cells, ~known),
            "" if self.has_missing else missing_note(cells, codes < 0, remedy, surprising=True),
        )

    def _unknown_note(self, cells: "pandas.Series", unknown: np.ndarray) -> str:
        if not unknown.any():
            return ""
        return (
            f"column `{self.name}` has {row_count(unknown)} with categories not seen in training "
            f"({examples(cells, unknown)}); treated as unknown."
        )


@final
@dataclasses.dataclass(frozen=True)
class Dropped(AbstractColumn):
    """A column that is not used."""

    name: str
    reason: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        return ()

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        return np.zeros((len(cells), 0))

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        return (f"column `{self.name}` left out: {self.reason}.",)

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        return ()


def days_since(first: str, times: np.ndarray) -> np.ndarray:
    """Convert times to days since the first one, NaN where there is none."""
    return (times - np.datetime64(first, "ms")) / np.timedelta64(1, "D")


def _sentences(*notes: str) -> tuple[str, ...]:
    return tuple(filter(None, notes))
