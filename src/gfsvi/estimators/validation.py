"""What to say about rows that are not numbers."""

import numpy as np

_REMEDY = (
    "For a table with text, dates or missing values use fit_table(frame, target), where `target` "
    "names a column of the frame."
)


def check_numbers(estimator: object, rows: object) -> None:
    """Raise if a frame holds dates, which NumPy would turn into nanoseconds."""
    kinds = {getattr(dtype, "kind", "") for dtype in getattr(rows, "dtypes", ())}
    if kinds & {"M", "m"}:
        raise ValueError(
            f"{type(estimator).__name__}.fit expects numbers; got a column of dates. {_REMEDY}"
        )


def with_remedy(estimator: object, error: Exception) -> Exception:
    """An error of scikit-learn's validation, with what to do about text and missing values."""
    name, found = type(estimator).__name__, str(error).partition("\n")[0].rstrip(".")
    if "could not convert string to float" in found:
        text = found.rpartition(": ")[2]
        return ValueError(f"{name}.fit expects numbers; got the text {text}. {_REMEDY}")
    if found == "Input X contains NaN":
        return ValueError(f"{name}.fit expects numbers; got NaN: missing values. {_REMEDY}")
    return error


def check_targets_are_numbers(estimator: object, y: object) -> None:
    """Raise if the targets of a regressor are text."""
    first = np.asarray(y, object).reshape(-1)[:1]
    if first.size and isinstance(first[0], str):
        raise ValueError(
            f"{type(estimator).__name__}.fit expects numbers as targets; got the text "
            f"{str(first[0])!r}. For labels use GFSVIClassifier or BayesianClassifier."
        )


def check_level(level: float) -> None:
    """Raise unless a level is a probability."""
    if not 0 < level < 1:
        raise ValueError(f"expected a level between 0 and 1; got {level!r}. Pass 0.9, say.")
