"""What was learned about a training table, and how similar tables become numbers."""

import dataclasses
import difflib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast, final

import numpy as np

from gfsvi.tables.columns import AbstractColumn
from gfsvi.tables.frames import as_frame
from gfsvi.tables.learning import learn_columns
from gfsvi.tables.reading import TableError
from gfsvi.tables.sentences import listed, row_count
from gfsvi.tables.targets import (
    Label,
    Task,
    check_numeric_target,
    check_target_names,
    choose_task,
    class_indices,
    finite_target,
    learn_classes,
    row_notes,
    rows_with_targets,
)
from gfsvi.tables.time_order import TimeOrder, time_order

if TYPE_CHECKING:
    import pandas


class PreparedTable(NamedTuple):
    """The rows of a table that have a target, as a frame and as numbers.

    `time_order` is the order in time that they are in, if they are in one.
    """

    frame: "pandas.DataFrame"
    usable: np.ndarray
    x: np.ndarray
    y: np.ndarray
    time_order: TimeOrder | None = None


@final
@dataclasses.dataclass(frozen=True)
class Preparation:
    """What was learned about a table's columns, and how they become numbers."""

    task: str
    target: tuple[str, ...]
    classes: tuple[Label, ...] | None
    columns: tuple[AbstractColumn, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names) or not any(c.feature_names for c in self.columns):
            raise ValueError("Preparation expects columns of different names, one of them used.")

    @classmethod
    def learn(
        cls, frame: "pandas.DataFrame", target: str | Sequence[str], task: Task = "auto"
    ) -> "Preparation":
        """Decide from the training table how to use each column, and record it in `notes`."""
        names = (target,) if isinstance(target, str) else tuple(target)
        frame = _with_targets(frame, names)
        chosen, reasons = choose_task(frame, names, task)
        for name in names if chosen == "regression" else ():
            check_numeric_target(frame[name])
        rows = rows_with_targets(frame, names, chosen)
        frame, notes = frame.loc[rows], (*reasons, *row_notes(rows, names))
        classes = learn_classes(frame, names, chosen)
        columns, remarks = learn_columns(frame.drop(columns=list(names)))
        return cls(chosen, names, classes, columns, notes + remarks)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """A unique name for each column of the matrix."""
        names: dict[str, None] = {}
        for name in (name for column in self.columns for name in column.feature_names):
            fresh, number = name, 2
            while fresh in names:
                fresh, number = f"{name} ({number})", number + 1
            names[fresh] = None
        return tuple(names)

    @property
    def features_of_columns(self) -> dict[str, tuple[int, ...]]:
        """The positions of the features that each column becomes; columns not used have none."""
        ends = np.cumsum([0, *(len(column.feature_names) for column in self.columns)])
        return {
            column.name: tuple(range(first, last))
            for column, first, last in zip(self.columns, ends, ends[1:], strict=False)
            if last > first
        }

    def prepare(self, frame: "pandas.DataFrame") -> PreparedTable:
        """Prepare the usable rows of a training table."""
        frame = as_frame(frame)
        usable = self.usable_rows(frame)
        kept = cast("pandas.DataFrame", frame[usable])
        rows = kept.rename(columns=str).reset_index(drop=True)
        order = time_order(rows.drop(columns=list(self.target)))
        return PreparedTable(rows, usable, self.inputs(rows), self.observations(rows), order)

    def inputs(self, frame: "pandas.DataFrame") -> np.ndarray:
        """Convert a table to finite numbers (row, feature), ignoring other columns."""
        frame = self._with_columns(frame)
        parts = [column.encode(frame[column.name]) for column in self._used]
        return np.concatenate(parts, axis=1)

    def observations(self, frame: "pandas.DataFrame") -> np.ndarray:
        """Return targets (row,), (row, target) if there are several, or class indices (row,)."""
        frame = _with_targets(frame, self.target)
        missing = ~rows_with_targets(frame, self.target, self.task)
        if missing.any():
            raise TableError(
                f"expected a value of {listed(self.target)} in every row, got none in "
                f"{row_count(missing)}; remove those rows."
            )
        if self.classes is not None:
            return class_indices(frame[self.target[0]], self.classes)
        values = [finite_target(frame[name]) for name in self.target]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)

    def usable_rows(self, frame: "pandas.DataFrame") -> np.ndarray:
        """Mark the rows that have a value for every target."""
        return rows_with_targets(_with_targets(frame, self.target), self.target, self.task)

    def surprises(self, frame: "pandas.DataFrame") -> tuple[str, ...]:
        """What occurs in this table but did not occur in training, as sentences."""
        frame = self._with_columns(frame)
        return tuple(note for c in self._used for note in c.surprises(frame[c.name]))

    @property
    def _used(self) -> list[AbstractColumn]:
        return [column for column in self.columns if column.feature_names]

    def _with_columns(self, frame: "pandas.DataFrame") -> "pandas.DataFrame":
        """Convert column names to text and raise if a column that is needed is missing."""
        frame = _with_text_names(frame)
        missing = [column.name for column in self._used if column.name not in frame.columns]
        if missing:
            raise TableError(
                f"expected the columns of the training table, got none named {listed(missing)}; "
                f"add them, with empty cells if their values are unknown.{_renamed(missing, frame)}"
            )
        return frame


def with_columns(
    preparation: Preparation,
    columns: Sequence[AbstractColumn],
    frame: "pandas.DataFrame",
    note: str | None = None,
) -> Preparation:
    """The preparation with other recipes for some columns, and what to know about these.

    Args:
        preparation: What was learned.
        columns: A recipe for each of its columns.
        frame: Rows of the table.
        note: What else to say.
    """
    changed = [new for new, old in zip(columns, preparation.columns, strict=True) if new is not old]
    told = {
        remark
        for c in preparation.columns
        if _is_among(c, changed)
        for remark in c.remarks(frame[c.name])
    }
    notes = [remark for remark in preparation.notes if remark not in told]
    notes += [remark for column in changed for remark in column.remarks(frame[column.name])]
    notes += [] if note is None else [note]
    return dataclasses.replace(preparation, columns=tuple(columns), notes=tuple(notes))


def _is_among(column: AbstractColumn, changed: Sequence[AbstractColumn]) -> bool:
    return column.name in {other.name for other in changed}


def _renamed(missing: Sequence[str], frame: "pandas.DataFrame") -> str:
    """A question whether a column of another name is meant, if there is a similar one."""
    for name in missing:
        near = difflib.get_close_matches(name, list(frame.columns), n=1)
        if near:
            return f" Is `{near[0]}` the column `{name}`? Rename it."
    return ""


def _with_targets(frame: "pandas.DataFrame", names: tuple[str, ...]) -> "pandas.DataFrame":
    """Convert column names to text and raise if a target is missing."""
    frame = _with_text_names(frame)
    check_target_names(list(frame.columns), names)
    return frame


def _with_text_names(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    frame = as_frame(frame)
    names = [str(name) for name in frame.columns]
    repeated = [name for name, number in Counter(names).items() if number > 1]
    if repeated:
        raise TableError(
            f"expected unique column names, got {listed(repeated)} more than once; rename one."
        )
    return frame.set_axis(names, axis=1)
