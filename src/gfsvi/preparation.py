"""From an untidy table to a matrix of numbers, learned once and applied again at prediction."""

import dataclasses
import difflib
import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from gfsvi.table import Numbers, TableError, read_dates, read_numbers, read_texts, text_of

if TYPE_CHECKING:
    import pandas

Task = Literal["auto", "regression", "classification"]
Label = str | int | float | bool

_FEWEST_ROWS = 10
_MOST_LEVELS = 20
_MOST_CLASSES = 100
_MOST_WORDS = 0.2  # share of a column that may be words if the rest are numbers
_IDENTIFIER = re.compile(r"(?:^|[^a-z])(?:id|ids|uuid|guid|identifier)$")
_NUMBERING = re.compile(r"(?:^|[^a-z])(?:index|idx|key|no|nr|num|number|row|serial|record)$")
_TIME = re.compile(r"(?:^|[^a-z])(?:age|date|day|hour|minute|month|second|step|time|week|year)s?$")


class AbstractColumn(ABC):
    """How one column of a table becomes columns of a matrix."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """What each column of the matrix is called."""

    @abstractmethod
    def encode(self, cells: "pandas.Series") -> np.ndarray:
        """Finite numbers (row, feature)."""

    @abstractmethod
    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        """What these cells have that training had not, a sentence each."""


@final
@dataclasses.dataclass(frozen=True)
class Numeric(AbstractColumn):
    """Numbers and booleans: the median stands in for what is missing."""

    kind: ClassVar[str] = "numeric"
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

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        numbers = read_numbers(cells, self.missing_words)
        found = [_words_note(cells, numbers.words, "numbers"), _infinite_note(cells, numbers)]
        unexpected = np.isnan(numbers.values) & ~numbers.words & ~numbers.infinite
        if unexpected.any() and not self.has_missing:
            found.append(_unexpected_note(cells, unexpected, f"the median {self.median:.4g} is"))
        return tuple(filter(None, found))


@final
@dataclasses.dataclass(frozen=True)
class Date(AbstractColumn):
    """Dates and times, as days since the first of them."""

    kind: ClassVar[str] = "date"
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
        return _fill(_days(times, self.first), self.median, self.has_missing)

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        times, words = read_dates(cells, self.missing_words)
        found = [_words_note(cells, words, "dates")]
        unexpected = np.isnat(times) & ~words
        if unexpected.any() and not self.has_missing:
            found.append(_unexpected_note(cells, unexpected, "the middle date is"))
        return tuple(filter(None, found))


@final
@dataclasses.dataclass(frozen=True)
class Categories(AbstractColumn):
    """Text: a 0/1 column for each frequent level, for all others and for missing ones."""

    kind: ClassVar[str] = "categories"
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

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        codes, texts = read_texts(cells)
        known = np.array([*(text in self.levels for text in texts), True])
        found = []
        # Where rare levels were put together in training, another one is no surprise.
        if not self.has_other and not known[codes].all():
            found.append(
                f"column `{self.name}` has {_rows(~known[codes])} with categories not seen in "
                f"training ({_examples(cells, ~known[codes])}): they are treated as unknown."
            )
        if (codes < 0).any() and not self.has_missing:
            found.append(_unexpected_note(cells, codes < 0, "no category is"))
        return tuple(found)


@final
@dataclasses.dataclass(frozen=True)
class Dropped(AbstractColumn):
    """A column that is left out."""

    kind: ClassVar[str] = "dropped"
    name: str
    reason: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        return ()

    def encode(self, cells: "pandas.Series") -> np.ndarray:
        return np.zeros((len(cells), 0))

    def surprises(self, cells: "pandas.Series") -> tuple[str, ...]:
        return ()


@final
@dataclasses.dataclass(frozen=True)
class Preparation:
    """What was learned about a table's columns, and how they become numbers."""

    task: str
    target: tuple[str, ...]
    classes: tuple[Label, ...] | None
    columns: tuple[AbstractColumn, ...]
    notes: tuple[str, ...]

    @classmethod
    def learn(
        cls, frame: "pandas.DataFrame", target: str | Sequence[str], task: Task = "auto"
    ) -> "Preparation":
        """Decide from the training table what to do with each column, and say so in `notes`."""
        frame = _with_text_names(frame)
        names = (target,) if isinstance(target, str) else tuple(target)
        _check_target_names(frame, names)
        chosen, choice = _choose_task(frame, names, task)
        for name in names if chosen == "regression" else ():
            _refuse_text_target(frame[name])
        rows = cls(chosen, names, None, (), ()).usable_rows(frame)
        frame, notes = frame.loc[rows], [*choice, *_row_notes(frame, rows, names)]
        classes = _learn_targets(frame, names, chosen)
        columns, remarks = _learn_columns(frame.drop(columns=list(names)))
        return cls(chosen, names, classes, columns, (*notes, *remarks))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each column of the matrix, all different."""
        names: dict[str, None] = {}
        for name in (name for column in self.columns for name in column.feature_names):
            fresh, number = name, 2
            while fresh in names:
                fresh, number = f"{name} ({number})", number + 1
            names[fresh] = None
        return tuple(names)

    def inputs(self, frame: "pandas.DataFrame") -> np.ndarray:
        """The table as finite numbers (row, feature); other columns are ignored."""
        frame = self._checked(frame)
        parts = [column.encode(frame[column.name]) for column in self._used]
        return np.concatenate(parts, axis=1)

    def observations(self, frame: "pandas.DataFrame") -> np.ndarray:
        """Targets (row,), (row, target) if several, or the index of each row's class."""
        frame = _with_text_names(frame)
        _check_target_names(frame, self.target)
        missing = ~self.usable_rows(frame)
        if missing.any():
            raise TableError(
                f"expected a value of {_listed(self.target)} in every row, got none in "
                f"{_rows(missing)}; leave those rows out."
            )
        if self.classes is not None:
            return _class_indices(frame[self.target[0]], self.classes)
        values = [_finite_target(frame[name]) for name in self.target]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)

    def usable_rows(self, frame: "pandas.DataFrame") -> np.ndarray:
        """Which rows have every target."""
        frame = _with_text_names(frame)
        _check_target_names(frame, self.target)
        if self.task == "classification":
            return read_texts(frame[self.target[0]])[0] >= 0
        numbers = [read_numbers(frame[name]) for name in self.target]
        return np.all([~np.isnan(n.values) | n.infinite for n in numbers], axis=0)

    def surprises(self, frame: "pandas.DataFrame") -> tuple[str, ...]:
        """What this table has that the training table had not, a sentence each."""
        frame = self._checked(frame)
        return tuple(note for c in self._used for note in c.surprises(frame[c.name]))

    def to_json(self) -> dict[str, Any]:
        """Plain values from which `from_json` makes an equal preparation."""
        columns = [{"kind": column.kind, **_plain(vars(column))} for column in self.columns]
        return _plain(vars(self)) | {"columns": columns}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Preparation":
        """Undo `to_json`; anything but what it writes is refused."""
        _check_record(record, {field.name for field in dataclasses.fields(cls)}, "a preparation")
        columns = record["columns"]
        if not isinstance(columns, list):
            raise ValueError(f"a preparation expects a list of columns; got {columns!r}.")
        task, target, classes = record["task"], _texts(record, "target"), record["classes"]
        if task not in ("regression", "classification") or not target:
            raise ValueError(f"a preparation expects a task and a target; got {task!r}, {target}.")
        if (classes is not None) != (task == "classification"):
            raise ValueError(f"a {task} expects classes if they are predicted; got {classes!r}.")
        labels = None if classes is None else _labels(classes)
        recipes = tuple(_column_from_json(column) for column in columns)
        made = cls(task, target, labels, recipes, _texts(record, "notes"))
        if not made.feature_names or len({c.name for c in recipes}) < len(recipes):
            raise ValueError("a preparation expects columns of different names, one in use.")
        return made

    @property
    def _used(self) -> list[AbstractColumn]:
        return [column for column in self.columns if not isinstance(column, Dropped)]

    def _checked(self, frame: "pandas.DataFrame") -> "pandas.DataFrame":
        frame = _with_text_names(frame)
        missing = [column.name for column in self._used if column.name not in frame.columns]
        if missing:
            raise TableError(
                f"expected the columns of the training table, got none named {_listed(missing)}; "
                "add them, with empty cells if they are not known."
            )
        return frame


# Targets -----------------------------------------------------------------------------------------


def _check_target_names(frame: "pandas.DataFrame", names: tuple[str, ...]) -> None:
    if len(names) == 0 or len(set(names)) < len(names):
        raise TableError(f"expected different target columns, got {list(names)}; name each once.")
    for name in names:
        if name not in frame.columns:
            near = difflib.get_close_matches(name, list(frame.columns), n=3, cutoff=0.5)
            remedy = f"did you mean {_listed(near, ' or ')}?" if near else "choose one of them."
            known = "other columns" if near else _listed(list(frame.columns)) or "no columns"
            raise TableError(f"expected a target column `{name}`, got {known}; {remedy}")


def _choose_task(
    frame: "pandas.DataFrame", names: tuple[str, ...], task: str
) -> tuple[str, list[str]]:
    if task not in ("auto", "regression", "classification"):
        raise TableError(
            f"expected the task auto, regression or classification, got {task!r}; choose one."
        )
    if task == "classification" and len(names) > 1:
        raise TableError(
            f"expected one target for classification, got {len(names)}; fit one model for each."
        )
    if task != "auto":
        return task, []
    if len(names) > 1:
        return "regression", []
    cells = frame[list(names)].iloc[:, 0]
    numbers = read_numbers(cells)
    distinct = len(np.unique(numbers.values[~np.isnan(numbers.values)]))
    declared = str(cells.dtype) in ("bool", "boolean", "category")
    is_text = declared or (not _are_numbers(numbers) and numbers.words.any())
    if (is_text or distinct == 2) and not _are_dates(cells):
        what = "categories" if is_text else "two different values"
        remedy = "" if is_text else "; use `--task regression` to predict it as a number"
        return "classification", [f"target `{cells.name}` has {what}: classification{remedy}."]
    return "regression", [
        f"target `{cells.name}` is a number with {distinct} different values: regression; "
        "use `--task classification` to predict its values as classes."
    ]


def _row_notes(
    frame: "pandas.DataFrame", rows: np.ndarray, names: tuple[str, ...]
) -> tuple[str, ...]:
    if not rows.any():
        raise TableError(
            f"expected values of {_listed(names)}, got none in {_rows(~rows)}; "
            "fill them in or choose another target."
        )
    if rows.sum() < _FEWEST_ROWS:
        raise TableError(
            f"expected at least {_FEWEST_ROWS} rows with a value of {_listed(names)}, "
            f"got {rows.sum()}; collect more."
        )
    if rows.all():
        return ()
    return (f"{_rows(~rows)} without a value of {_listed(names)} left out.",)


def _learn_targets(
    frame: "pandas.DataFrame", names: tuple[str, ...], task: str
) -> tuple[Label, ...] | None:
    if task == "classification":
        return _learn_classes(frame[names[0]])
    for name in names:
        values = _finite_target(frame[name])
        if _is_constant(values):
            raise _constant_target(name, f"{values[0]:.6g}")
    return None


def _refuse_text_target(cells: "pandas.Series") -> None:
    words = read_numbers(cells).words
    if _are_dates(cells) or not _mostly_not(words, cells):
        remedy = (
            "write them as a number of days"
            if _are_dates(cells)
            else "use `--task classification` or correct them"
        )
        raise TableError(
            f"expected numbers in target `{cells.name}`, got {_examples(cells, cells.notna())}; "
            f"{remedy}."
        )


def _finite_target(cells: "pandas.Series") -> np.ndarray:
    numbers = read_numbers(cells)
    if numbers.infinite.any():
        raise TableError(
            f"expected finite values of target `{cells.name}`, got infinite ones in "
            f"{_rows(numbers.infinite)}; correct or remove them."
        )
    return numbers.values


def _learn_classes(cells: "pandas.Series") -> tuple[Label, ...]:
    numbers = read_numbers(cells)
    if numbers.infinite.any() and cells.dtype.kind == "f":
        _finite_target(cells)
    codes, texts = read_texts(cells)
    if len(texts) < 2:
        raise _constant_target(str(cells.name), texts[0])
    if len(texts) > _MOST_CLASSES or len(texts) > 0.8 * len(codes):
        numeric = _are_numbers(numbers)
        remedy = "use `--task regression`" if numeric else "is it an identifier or free text?"
        raise TableError(
            f"expected at most {_MOST_CLASSES} classes, most with several rows, in target "
            f"`{cells.name}`, got {len(texts)} in {len(codes)} rows; {remedy}"
            f"{'.' if numeric else ''}"
        )
    first = dict(zip(codes[::-1], list(cells.astype(object))[::-1], strict=True))
    labels = [_label(first[code]) for code in range(len(texts))]
    if not (_all_are(labels, bool) or _all_are(labels, (int, float))):
        labels = texts
    return tuple(sorted(labels))


def _label(value: Any) -> Label:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (bool, int, float)) else text_of(value)


def _class_indices(cells: "pandas.Series", classes: tuple[Label, ...]) -> np.ndarray:
    codes, texts = read_texts(cells)
    places = {text_of(label): place for place, label in enumerate(classes)}
    unknown = np.array([text not in places for text in texts], bool)[codes]
    if unknown.any():
        raise TableError(
            f"expected classes of the training table in target `{cells.name}`, got "
            f"{_examples(cells, unknown)} in {_rows(unknown)}; leave those rows out."
        )
    return np.array([places[text] for text in texts], np.int64)[codes]


def _all_are(labels: Sequence[Label], kind: Any) -> bool:
    # To Python a bool is an int; to a reader it is not.
    wanted = kind is bool
    return all(isinstance(x, kind) and isinstance(x, bool) == wanted for x in labels)


def _constant_target(name: str, value: str) -> TableError:
    return TableError(
        f"expected target `{name}` to vary, got {value} in every row; choose another target."
    )


# Inputs ------------------------------------------------------------------------------------------


def _learn_columns(
    frame: "pandas.DataFrame",
) -> tuple[tuple[AbstractColumn, ...], list[str]]:
    columns = [_learn_column(frame[name]) for name in frame.columns]
    if not any(column.feature_names for column in columns):
        # What counts the rows may be the input after all if there is no other.
        columns = [_learn_column(frame[name], keep_counts=True) for name in frame.columns]
    columns = _without_repetition(frame, columns)
    notes = [note for column in columns for note in _remarks(column, frame[column.name])]
    if not any(column.feature_names for column in columns):
        raise TableError(
            "expected a column to predict from, got none of use"
            f"{': ' if notes else ''}{' '.join(notes[:3]).rstrip('.')}; add other columns."
        )
    return tuple(columns), notes


def _learn_column(cells: "pandas.Series", keep_counts: bool = False) -> AbstractColumn:
    if str(cells.dtype) != "category":
        if _are_dates(cells):
            return _learn_date(cells)
        numbers = read_numbers(cells)
        if _are_numbers(numbers) and not _has_leading_zeros(cells):
            return _learn_numeric(cells, numbers, keep_counts)
    return _learn_categories(cells)


def _learn_date(cells: "pandas.Series") -> AbstractColumn:
    times, words = read_dates(cells)
    present = times[~np.isnat(times)]
    if present.min() == present.max():
        return _learn_categories(cells)
    first = np.datetime_as_string(present.min())
    median = _median(_days(present, first))
    has_missing = len(present) < len(times)
    return Date(str(cells.name), first, median, has_missing, _distinct(cells, words))


def _learn_numeric(cells: "pandas.Series", numbers: Numbers, keep_counts: bool) -> AbstractColumn:
    name, present = str(cells.name), numbers.values[~np.isnan(numbers.values)]
    has_missing = len(present) < len(cells)
    if not present.size:
        return Dropped(name, "it has no finite values")
    if _is_constant(present):
        # Whether there is a value may still say something.
        return _learn_categories(cells) if has_missing else _constant_column(name)
    if _looks_like_identifier(name, present):
        return Dropped(name, "whole numbers under such a name look like an identifier")
    if not keep_counts and _counts_rows(name, present):
        return Dropped(name, "it counts the rows, as an identifier does")
    words = _distinct(cells, numbers.words)
    return Numeric(name, _median(present), has_missing, words)


def _learn_categories(cells: "pandas.Series") -> AbstractColumn:
    name, (codes, texts) = str(cells.name), read_texts(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    if not texts:
        return Dropped(name, "it has no values")
    if len(texts) == 1 and (codes >= 0).all():
        return _constant_column(name)
    if len(texts) > max(1, 0.5 * counts.sum()):
        return Dropped(
            name,
            f"{len(texts)} different texts in {counts.sum()} rows look like an identifier or free "
            "text (dates are understood as YYYY-MM-DD)",
        )
    order = sorted(range(len(texts)), key=lambda code: (-counts[code], texts[code]))
    kept = order[:_MOST_LEVELS]
    if counts[kept].sum() < 0.1 * counts.sum():
        return Dropped(
            name,
            f"it has {len(texts)} categories, of which the {_MOST_LEVELS} most frequent make up "
            "less than a tenth of the rows",
        )
    levels = tuple(texts[code] for code in kept)
    return Categories(name, levels, len(texts) > _MOST_LEVELS, bool((codes < 0).any()))


def _without_repetition(
    frame: "pandas.DataFrame", columns: Sequence[AbstractColumn]
) -> list[AbstractColumn]:
    """The same columns, but those that repeat an earlier one are dropped."""
    first: dict[Any, str] = {}
    kept: list[AbstractColumn] = []
    for column in columns:
        # Adding 0 makes -0 and 0 one.
        encoded = np.ascontiguousarray(column.encode(frame[column.name]) + 0.0)
        content = hashlib.blake2b(encoded).digest()
        key = (column.kind, getattr(column, "levels", ()), content)
        twin = first.setdefault(key, column.name) if column.feature_names else column.name
        repeats = twin != column.name
        kept.append(Dropped(column.name, f"it repeats column `{twin}`") if repeats else column)
    return kept


def _remarks(column: AbstractColumn, cells: "pandas.Series") -> list[str]:
    """What a user should know about how a training column is used."""
    if isinstance(column, Dropped):
        return [f"column `{column.name}` left out: {column.reason}."]
    if isinstance(column, Categories):
        notes = [_levels_note(column, cells)]
        gone = read_texts(cells)[0] < 0
        return [*filter(None, notes), *_missing_note(column, gone, "they are a category of theirs")]
    if isinstance(column, Date):
        times, words = read_dates(cells)
        notes = [
            f"column `{column.name}` holds dates: taken as days since {column.first[:10]}.",
            _words_note(cells, words, "dates"),
        ]
        gone = np.isnat(times) & ~words
    else:
        notes, gone = _number_notes(cells)
    stand_in = "the median stands in for them"
    return [*filter(None, notes), *_missing_note(column, gone, stand_in)]


def _number_notes(cells: "pandas.Series") -> tuple[list[str], np.ndarray]:
    numbers = read_numbers(cells)
    missing = np.isnan(numbers.values) & ~numbers.infinite
    present = np.asarray(cells.notna())
    notes = [_words_note(cells, missing & present, "numbers"), _infinite_note(cells, numbers)]
    # Only text is looked at again: a million different numbers would take a minute.
    texts = _distinct(cells, ~missing) if cells.dtype.kind == "O" else ()
    unusual = [text for text in texts if text.lower() not in ("true", "false")]
    if unusual:
        examples = ", ".join(f"'{text}'" for text in unusual[:3])
        notes.insert(0, f"column `{cells.name}` is text that reads as numbers ({examples}).")
    return notes, missing & ~present


def _levels_note(column: Categories, cells: "pandas.Series") -> str:
    if not column.has_other:
        return ""
    return (
        f"column `{column.name}` has {len(read_texts(cells)[1])} categories: the {_MOST_LEVELS} "
        "most frequent are kept, all others put together."
    )


def _missing_note(column: AbstractColumn, gone: np.ndarray, remedy: str) -> list[str]:
    if not gone.any():
        return []
    return [
        f"column `{column.name}` has {_rows(gone)} without a value: {remedy}, "
        f"marked by `{column.feature_names[-1]}`."
    ]


def _are_dates(cells: "pandas.Series") -> bool:
    if cells.dtype.kind not in "MO" or str(cells.dtype) == "category":
        return False
    times, words = read_dates(cells)
    return bool((~np.isnat(times)).any()) and _mostly_not(words, cells)


def _are_numbers(numbers: Numbers) -> bool:
    found = np.sum(~np.isnan(numbers.values)) + np.sum(numbers.infinite)
    words = np.sum(numbers.words)
    return bool(found > 0 and words <= _MOST_WORDS * (found + words))


def _has_leading_zeros(cells: "pandas.Series") -> bool:
    # 01234 is a code; as a number it would lose its zero.
    is_text = cells.dtype.kind == "O"
    return is_text and any(re.fullmatch(r"0\d+", text) for text in read_texts(cells)[1])


def _looks_like_identifier(name: str, present: np.ndarray) -> bool:
    if np.any(present != np.round(present)):
        return False
    distinct = len(np.unique(present))
    all_differ = distinct == len(present)
    named = _IDENTIFIER.search(_spaced(name))
    return bool(
        (named and distinct > _MOST_LEVELS)
        or (all_differ and (named or _NUMBERING.search(_spaced(name))))
    )


def _counts_rows(name: str, present: np.ndarray) -> bool:
    steps = np.diff(present)
    # Not every step: rows without a target are gone.
    counting = np.all(steps >= 1) and np.mean(steps == 1) >= 0.9
    return bool(counting and not _TIME.search(_spaced(name)))


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _constant_column(name: str) -> Dropped:
    return Dropped(name, "it has one value in all rows")


def _is_constant(values: np.ndarray) -> bool:
    # Differences in the last digits are rounding, not information.
    return bool(np.ptp(values) <= max(1e-100, 1e-14 * np.max(np.abs(values))))


def _median(values: np.ndarray) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


def _days(times: np.ndarray, first: str) -> np.ndarray:
    return (times - np.datetime64(first, "ms")) / np.timedelta64(1, "D")


def _fill(values: np.ndarray, median: float, has_missing: bool) -> np.ndarray:
    missing = np.isnan(values)
    filled = np.where(missing, median, values)
    return np.stack([filled, missing.astype(float)] if has_missing else [filled], axis=1)


def _with_indicator(name: str, feature: str, has_missing: bool) -> tuple[str, ...]:
    return (feature, f"{name} is missing") if has_missing else (feature,)


# Sentences ---------------------------------------------------------------------------------------


def _refuse_words(cells: "pandas.Series", words: np.ndarray, wanted: str) -> None:
    if not _mostly_not(words, cells):
        raise TableError(
            f"expected {wanted} in column `{cells.name}`, as in training, got "
            f"{_examples(cells, words)} in {_rows(words)}; correct them or leave the cells empty."
        )


def _mostly_not(words: np.ndarray, cells: "pandas.Series") -> bool:
    return bool(np.sum(words) <= _MOST_WORDS * cells.notna().sum())


def _words_note(cells: "pandas.Series", words: np.ndarray, wanted: str) -> str:
    if not words.any():
        return ""
    return (
        f"column `{cells.name}` has {_examples(cells, words)} in place of {wanted} in "
        f"{_rows(words)}: taken as missing."
    )


def _infinite_note(cells: "pandas.Series", numbers: Numbers) -> str:
    if not numbers.infinite.any():
        return ""
    return (
        f"column `{cells.name}` has {_rows(numbers.infinite)} with infinite or "
        "astronomically large numbers: taken as missing."
    )


def _unexpected_note(cells: "pandas.Series", missing: np.ndarray, stand_in: str) -> str:
    return (
        f"column `{cells.name}` has {_rows(missing)} without a value, which training had not: "
        f"{stand_in} assumed."
    )


def _rows(mask: Any) -> str:
    number = int(np.sum(mask))
    return f"{number} row" if number == 1 else f"{number} rows"


def _examples(cells: "pandas.Series", mask: Any) -> str:
    texts = _distinct(cells, np.asarray(mask))
    shown = ", ".join(f"'{text[:40]}'" for text in texts[:3])
    return f"{shown}, ..." if len(texts) > 3 else shown


def _distinct(cells: "pandas.Series", mask: np.ndarray) -> tuple[str, ...]:
    codes, texts = read_texts(cells[mask])
    return tuple(texts[code] for code in dict.fromkeys(codes[codes >= 0]))


def _listed(names: Sequence[str], joint: str = ", ") -> str:
    shown = joint.join(f"`{name}`" for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


# Tables and records from outside -----------------------------------------------------------------


def _with_text_names(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    names = [str(name) for name in frame.columns]
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise TableError(
            f"expected different column names, got {_listed(twice)} more than once; rename one."
        )
    return frame.set_axis(names, axis=1)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in fields.items()}


def _check_record(record: Any, expected: set[str], owner: str) -> None:
    if not isinstance(record, dict) or set(record) != expected:
        got = sorted(map(str, record)) if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"{owner} expects the entries {sorted(expected)}; got {got}.")


def _texts(record: dict[str, Any], name: str) -> tuple[str, ...]:
    value = record[name]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} expects a list of texts; got {value!r}.")
    return tuple(value)


def _labels(value: Any) -> tuple[Label, ...]:
    known = isinstance(value, list) and all(isinstance(x, (str, int, float)) for x in value)
    if not known or len({text_of(x) for x in value}) < max(2, len(value)):
        raise ValueError(f"classes expect at least two different labels; got {value!r}.")
    return tuple(value)


def _column_from_json(record: Any) -> AbstractColumn:
    kinds = {kind.kind: kind for kind in (Numeric, Date, Categories, Dropped)}
    kind = kinds.get(str(record.get("kind"))) if isinstance(record, dict) else None
    if kind is None:
        raise ValueError(f"a column expects one of the kinds {list(kinds)}; got {record!r}.")
    fields = dataclasses.fields(kind)
    _check_record(record, {"kind", *(field.name for field in fields)}, f"a {kind.kind} column")
    return kind(**{field.name: _value(record, field.name, field.type) for field in fields})


def _value(record: dict[str, Any], name: str, wanted: Any) -> Any:
    value = record[name]
    if wanted == tuple[str, ...]:
        return _texts(record, name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = is_number and math.isfinite(value) if wanted is float else isinstance(value, wanted)
    if not fits:
        raise ValueError(f"{name} expects a {wanted.__name__}; got {value!r}.")
    return wanted(value)
