"""Recipes: how one column of a table becomes columns of a matrix."""

import dataclasses
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, final

import numpy as np

from gfsvi.tables.cells import read_dates, read_numbers, read_texts
from gfsvi.tables.reading import TableError
from gfsvi.tables.recognition import are_few
from gfsvi.tables.sentences import (
    distinct,
    examples,
    infinite_note,
    missing_note,
    row_count,
    unexpected_note,
    words_note,
)

if TYPE_CHECKING:
    import pandas

_MEDIAN_STANDS_IN = "the median stands in for them"


class AbstractColumn(ABC):
    """How one column of a table becomes columns of a matrix."""

    name: str

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """What each column of the matrix is called."""

    @abstractmethod
    def encode(self, cells: "pandas.Series") -> np.ndarray:
        """Finite numbers (row, feature)."""

    @abstractmethod
    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        """What a user should know about how the training cells are used, a sentence each."""

    @abstractmethod
    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        """What these cells have that training had not, a sentence each."""


@final
@dataclasses.dataclass(frozen=True)
class Numeric(AbstractColumn):
    """Numbers and booleans: the median stands in for what is missing."""

    name: str
    median: float
    has_missing: bool
    missing_words: tuple[str, ...] = ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        return _with_indicator(self.name, self.name, self.has_missing)

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        numbers = read_numbers(cells, self.missing_words)
        _refuse_words(cells, numbers.words, "numbers")
        return _fill(numbers.values, self.median, self.has_missing)

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        numbers = read_numbers(cells)
        unread = np.isnan(numbers.values) & ~numbers.infinite
        present = np.asarray(cells.notna())
        empty, mark = unread & ~present, self.feature_names[-1]
        return _sentences(
            _parsed_note(cells, ~unread),
            words_note(cells, unread & present, "numbers"),
            infinite_note(cells, numbers),
            missing_note(self.name, empty, _MEDIAN_STANDS_IN, mark),
        )

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        numbers = read_numbers(cells, self.missing_words)
        found = [words_note(cells, numbers.words, "numbers"), infinite_note(cells, numbers)]
        unexpected = np.isnan(numbers.values) & ~numbers.words & ~numbers.infinite
        if unexpected.any() and not self.has_missing:
            found.append(unexpected_note(cells, unexpected, f"the median {self.median:.4g} is"))
        return _sentences(*found)


@final
@dataclasses.dataclass(frozen=True)
class Date(AbstractColumn):
    """Dates and times, as days since the first of them."""

    name: str
    first: str
    median: float
    has_missing: bool
    missing_words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if np.isnat(np.datetime64(self.first, "ms")):
            raise ValueError(f"Date expects a first date; got {self.first!r}.")

    @property
    def feature_names(self) -> tuple[str, ...]:
        day = self.first.partition("T")[0]
        return _with_indicator(self.name, f"{self.name} (days since {day})", self.has_missing)

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        times, words = read_dates(cells, self.missing_words)
        _refuse_words(cells, words, "dates")
        return _fill(days_since(self.first, times), self.median, self.has_missing)

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        times, words = read_dates(cells)
        empty, mark = np.isnat(times) & ~words, self.feature_names[-1]
        return _sentences(
            f"column `{self.name}` holds dates: taken as days since {self.first[:10]}.",
            words_note(cells, words, "dates"),
            missing_note(self.name, empty, _MEDIAN_STANDS_IN, mark),
        )

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        times, words = read_dates(cells, self.missing_words)
        found = [words_note(cells, words, "dates")]
        unexpected = np.isnat(times) & ~words
        if unexpected.any() and not self.has_missing:
            found.append(unexpected_note(cells, unexpected, "the middle date is"))
        return _sentences(*found)


@final
@dataclasses.dataclass(frozen=True)
class Categories(AbstractColumn):
    """Text: a 0/1 column for each frequent level, for all others and for missing ones."""

    name: str
    levels: tuple[str, ...]
    has_other: bool
    has_missing: bool

    @property
    def feature_names(self) -> tuple[str, ...]:
        names = [f"{self.name} = {level}" for level in self.levels]
        names += [f"{self.name} is another"] * self.has_other
        return (*names, *[f"{self.name} is missing"] * self.has_missing)

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        codes, texts = read_texts(cells)
        places = {level: place for place, level in enumerate(self.levels)}
        width = len(self.feature_names)
        # A place one beyond the matrix is cut off: all zeros.
        other = len(self.levels) if self.has_other else width
        missing = width - 1 if self.has_missing else width
        place = np.array([*(places.get(text, other) for text in texts), missing])[codes]
        return np.eye(width + 1)[place][:, :width]

    def remarks(self, cells: "pandas.Series") -> tuple[str, ...]:
        codes, texts = read_texts(cells)
        merged = (
            f"column `{self.name}` has {len(texts)} categories: the {len(self.levels)} "
            "most frequent are kept, all others put together."
        )
        remedy, mark = "they are a category of theirs", self.feature_names[-1]
        missing = missing_note(self.name, codes < 0, remedy, mark)
        return _sentences(merged if self.has_other else "", missing)

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        codes, texts = read_texts(cells)
        known = np.array([*(text in self.levels for text in texts), True])
        found = []
        # Where rare levels were put together in training, another one is no surprise.
        if not self.has_other and not known[codes].all():
            found.append(
                f"column `{self.name}` has {row_count(~known[codes])} with categories not seen in "
                f"training ({examples(cells, ~known[codes])}): they are treated as unknown."
            )
        if (codes < 0).any() and not self.has_missing:
            found.append(unexpected_note(cells, codes < 0, "no category is"))
        return tuple(found)


@final
@dataclasses.dataclass(frozen=True)
class Dropped(AbstractColumn):
    """A column that is left out."""

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
    """Times as days, NaN where there is none."""
    return (times - np.datetime64(first, "ms")) / np.timedelta64(1, "D")


def _with_indicator(name: str, feature: str, has_missing: bool) -> tuple[str, ...]:
    return (feature, f"{name} is missing") if has_missing else (feature,)


def _fill(values: np.ndarray, median: float, has_missing: bool) -> np.ndarray:
    missing = np.isnan(values)
    filled = np.where(missing, median, values)
    return np.stack([filled, missing.astype(float)] if has_missing else [filled], axis=1)


def _refuse_words(cells: "pandas.Series", words: np.ndarray, wanted: str) -> None:
    if not are_few(words, cells):
        raise TableError(
            f"expected {wanted} in column `{cells.name}`, as in training, got "
            f"{examples(cells, words)} in {row_count(words)}; "
            "correct them or leave the cells empty."
        )


def _parsed_note(cells: "pandas.Series", parsed: np.ndarray) -> str:
    # Only text is looked at again: a million different numbers would take a minute.
    texts = distinct(cells, parsed) if cells.dtype.kind == "O" else ()
    unusual = [text for text in texts if text.lower() not in ("true", "false")]
    if not unusual:
        return ""
    shown = ", ".join(f"'{text}'" for text in unusual[:3])
    return f"column `{cells.name}` is text that reads as numbers ({shown})."


def _sentences(*notes: str) -> tuple[str, ...]:
    return tuple(filter(None, notes))
