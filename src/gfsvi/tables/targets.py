"""What is predicted: the task, the rows that have a target, and its numbers or classes."""

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from gfsvi.tables.cells import has_value, read_numbers, read_texts, text_of
from gfsvi.tables.reading import TableError
from gfsvi.tables.recognition import are_dates, are_few, are_numbers, is_constant
from gfsvi.tables.sentences import examples, listed, row_count

if TYPE_CHECKING:
    import pandas

Task = Literal["auto", "regression", "classification"]
Label = str | int | float | bool

_FEWEST_ROWS = 10
_MOST_CLASSES = 500


def check_target_names(columns: Sequence[str], names: tuple[str, ...]) -> None:
    """Raise unless all names are those of distinct columns, and suggest similar ones."""
    if len(names) == 0 or len(set(names)) < len(names):
        raise TableError(f"expected different target columns, got {list(names)}; name each once.")
    for name in names:
        if name not in columns:
            near = difflib.get_close_matches(name, columns, n=3, cutoff=0.5)
            remedy = f"did you mean {listed(near, ' or ')}?" if near else "choose one of them."
            known = "other columns" if near else listed(columns) or "no columns"
            if not near and len(columns) == 1:
                known = f"a single column {known}"
                remedy = "separate columns with commas, semicolons or tabs."
            raise TableError(f"expected a target column `{name}`, got {known}; {remedy}")


def choose_task(
    frame: "pandas.DataFrame", names: tuple[str, ...], task: str
) -> tuple[str, tuple[str, ...]]:
    """Return the requested task, or the one that the target suggests and why."""
    if task not in ("auto", "regression", "classification"):
        raise TableError(
            f"expected the task auto, regression or classification, got {task!r}; choose one."
        )
    if task == "classification" and len(names) > 1:
        raise TableError(
            f"expected one target for classification, got {len(names)}; fit one model for each."
        )
    if task == "auto" and len(names) == 1:
        task, reason = _suggested_task(frame[names[0]])
        return task, (reason,)
    return "regression" if task == "auto" else task, ()


def _suggested_task(cells: "pandas.Series") -> tuple[str, str]:
    numbers = read_numbers(cells)
    distinct = len(np.unique(numbers.values[~np.isnan(numbers.values)]))
    declared = str(cells.dtype) in ("bool", "boolean", "category")
    is_text = declared or (not are_numbers(numbers) and numbers.words.any())
    if (is_text or distinct == 2) and not are_dates(cells):
        what = "holds categories" if is_text else "has two distinct values"
        remedy = "" if is_text else "; use `--task regression` to predict it as a number"
        return "classification", f"target `{cells.name}` {what}: classification{remedy}."
    return "regression", (
        f"target `{cells.name}` is a number with {distinct} distinct values: regression; "
        "use `--task classification` to treat its values as classes."
    )


def check_numeric_target(cells: "pandas.Series") -> None:
    """Raise if a regression target holds words or dates."""
    if are_dates(cells):
        remedy = "convert them to a number of days"
    elif not are_few(read_numbers(cells).words, cells):
        remedy = "use `--task classification` or correct them"
    else:
        return
    raise TableError(
        f"expected numbers in target `{cells.name}`, got {examples(cells, has_value(cells))}; "
        f"{remedy}."
    )


def rows_with_targets(frame: "pandas.DataFrame", names: tuple[str, ...], task: str) -> np.ndarray:
    """Mark the rows that have a value for every target, including infinite ones."""
    if task == "classification":
        return read_texts(frame[names[0]])[0] >= 0
    numbers = [read_numbers(frame[name]) for name in names]
    return np.all([~np.isnan(n.values) | n.infinite for n in numbers], axis=0)


def row_notes(rows: np.ndarray, names: tuple[str, ...]) -> tuple[str, ...]:
    """Say how many rows have no target; raise if too few have one."""
    if not rows.any():
        raise TableError(
            f"expected values of {listed(names)}, got none in {row_count(~rows)}; "
            "fill them in or choose another target."
        )
    if rows.sum() < _FEWEST_ROWS:
        raise TableError(
            f"expected at least {_FEWEST_ROWS} rows with a value of {listed(names)}, "
            f"got {rows.sum()}; collect more rows."
        )
    if rows.all():
        return ()
    return (f"{row_count(~rows)} without a value of {listed(names)} left out.",)


def learn_classes(
    frame: "pandas.DataFrame", names: tuple[str, ...], task: str
) -> tuple[Label, ...] | None:
    """Return the class labels in order; for regression, raise if a target cannot be learned."""
    if task == "classification":
        return _classes_of(frame[names[0]])
    for name in names:
        values = finite_target(frame[name])
        if is_constant(values):
            raise _constant_target(name, f"{values[0]:.6g}")
    return None


def finite_target(cells: "pandas.Series") -> np.ndarray:
    """Return a target as numbers; raise if one is infinite."""
    numbers = read_numbers(cells)
    if numbers.infinite.any():
        raise TableError(
            f"expected finite values of target `{cells.name}`, got infinite ones in "
            f"{row_count(numbers.infinite)}; correct or remove them."
        )
    return numbers.values


def class_indices(cells: "pandas.Series", classes: tuple[Label, ...]) -> np.ndarray:
    """Return the index of each row's class among those of the training table."""
    codes, texts = read_texts(cells)
    places = {text_of(label): place for place, label in enumerate(classes)}
    unknown = np.array([text not in places for text in texts], bool)[codes]
    if unknown.any():
        raise TableError(
            f"expected classes of the training table in target `{cells.name}`, got "
            f"{examples(cells, unknown)} in {row_count(unknown)}; remove those rows."
        )
    return np.array([places[text] for text in texts], np.int64)[codes]


def _classes_of(cells: "pandas.Series") -> tuple[Label, ...]:
    if cells.dtype.kind == "f":
        finite_target(cells)
    codes, texts = read_texts(cells)
    if len(texts) < 2:
        raise _constant_target(str(cells.name), texts[0])
    if len(texts) > _MOST_CLASSES or len(texts) > 0.8 * len(codes):
        raise _too_many_classes(cells, len(texts))
    first = dict(zip(codes[::-1], list(cells.astype(object))[::-1], strict=True))
    labels = [_label(first[code]) for code in range(len(texts))]
    if not (_all_are(labels, bool) or _all_are(labels, (int, float))):
        labels = texts
    return tuple(sorted(labels))


def _label(value: object) -> Label:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (bool, int, float)) else text_of(value)


def _all_are(labels: Sequence[Label], kind: type | tuple[type, ...]) -> bool:
    # In Python a bool is an int; as a label it is not.
    wanted = kind is bool
    return all(isinstance(x, kind) and isinstance(x, bool) == wanted for x in labels)


def _constant_target(name: str, value: str) -> TableError:
    return TableError(
        f"expected target `{name}` to vary, got {value} in every row; choose another target."
    )


def _too_many_classes(cells: "pandas.Series", number: int) -> TableError:
    numeric = are_numbers(read_numbers(cells))
    remedy = "use `--task regression`." if numeric else "is it an identifier or free text?"
    return TableError(
        f"expected at most {_MOST_CLASSES} classes, most with several rows, in target "
        f"`{cells.name}`, got {number} in {len(cells)} rows; {remedy}"
    )
