"""A saved model that predicts rows of JSON."""

import dataclasses
import math
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gfsvi.serving import Predictor, read_predictor
from gfsvi.tables import Preparation
from gfsvi.tables.frames import frame_of_rows
from gfsvi.tables.reading import TableError

if TYPE_CHECKING:
    from gfsvi.auto import Fitted

Row = dict[str, str | float | None]


@dataclasses.dataclass(frozen=True)
class Served:
    """A model, and what it knows about the table that it was fitted to.

    Args:
        name: The name of its file.
        model: The model, in NumPy if it has such a form.
        preparation: How rows become numbers.
    """

    name: str
    model: "Predictor | Fitted"
    preparation: Preparation

    @classmethod
    def read(cls, path: str | PathLike[str], name: str) -> "Served":
        """Read a model that was fitted to a table."""
        model = read_predictor(path)
        if model is None:
            from gfsvi.auto import Fitted

            model = Fitted.load(path)
        if model.preparation is None:
            raise TableError(
                "expected a model that knows the columns of a table; got one fitted to a bare "
                "array. Fit it with `gfsvi fit` or estimator.fit_table."
            )
        return cls(name, model, model.preparation)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that every row must have."""
        return tuple(column.name for column in self.preparation.columns if column.feature_names)

    @property
    def described(self) -> dict[str, Any]:
        """The model in words."""
        known: dict[str, Any] = {"name": self.name, "task": self.model.task}
        known |= {"target": list(self.preparation.target), "columns": list(self.columns)}
        if self.preparation.classes is not None:
            known["classes"] = list(self.preparation.classes)
        return known | {"level": self.model.level}

    def prepared(self, rows: list[Row]) -> np.ndarray:
        """Rows as numbers; raises `ValueError` with words for the sender.

        Each request on its own: how a column is read may depend on all of its cells.
        """
        with np.errstate(all="ignore"):
            return self.preparation.inputs(frame_of_rows(rows, self.columns))

    def predict(self, x: np.ndarray, level: float) -> list[dict[str, Any]]:
        """One prediction per prepared row; raises `ValueError` with words for the sender."""
        with np.errstate(all="ignore"):
            columns = self._columns(x, level)
            columns["novelty"] = np.asarray(self.model.novelty(x))
        _check_finite(columns)
        lists = {name: values.tolist() for name, values in columns.items()}
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]

    def _columns(self, x: np.ndarray, level: float) -> dict[str, np.ndarray]:
        if self.model.task == "classification":
            return self._labels(x, level)
        predictive = cast(Any, self.model.predict(x))
        lower, upper = self._interval(predictive, level)
        found = {"mean": predictive.mean, "std": predictive.std, "lower": lower, "upper": upper}
        found |= {"epistemic_std": predictive.epistemic_std}
        if np.ndim(predictive.mean) == 1:
            return {name: np.asarray(values) for name, values in found.items()}
        return {
            f"{target}_{name}": np.asarray(values)[:, number]
            for number, target in enumerate(self.preparation.target)
            for name, values in found.items()
        }

    def _interval(self, predictive: Any, level: float) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self.model, Predictor):
            return self.model.interval(predictive, level)
        from gfsvi.auto.conformal import interval_of

        return interval_of(self.model, predictive, level)

    def _labels(self, x: np.ndarray, level: float) -> dict[str, np.ndarray]:
        from gfsvi.auto.conformal import set_of

        fitted, classes = cast("Fitted", self.model), self.preparation.classes or ()
        predictive = cast(Any, fitted.predict(x))
        probabilities = np.asarray(predictive.probabilities)
        columns = {"predicted": np.array(classes)[np.argmax(probabilities, axis=1)]}
        columns |= {f"p_{label}": probabilities[:, i] for i, label in enumerate(classes)}
        columns["entropy"] = np.asarray(predictive.entropy)
        if fitted.conformal != "none":
            inside = set_of(fitted, predictive, level)
            names = np.array([str(label) for label in classes])
            columns["set"] = np.array([";".join(names[row]) for row in inside])
        return columns


def _check_finite(columns: dict[str, np.ndarray]) -> None:
    for name, values in columns.items():
        if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
            row = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"expected rows that the model can predict; row {row} gives {name} that is not "
                "finite. Look for absurdly large numbers in it."
            )


def checked_rows(given: object, columns: tuple[str, ...], known: set[str], most: int) -> list[Row]:
    """Rows of a request; raises `ValueError` with words for the sender.

    Args:
        given: What the request has in the place of rows.
        columns: The columns that every row must have.
        known: Further columns that a row may have.
        most: The largest number of rows.
    """
    if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
        raise ValueError('expected {"rows": [{"column": value, ...}, ...]}; got something else.')
    if not 0 < len(given) <= most:
        raise ValueError(f"expected 1 to {most} rows; got {len(given)}. Send several requests.")
    for number, row in enumerate(given):
        missing = [name for name in columns if name not in row]
        if missing:
            raise ValueError(
                f"expected every column of the model; row {number} has no {missing[0]!r:.100}. "
                "Send null for a value that is missing."
            )
        for name, value in row.items():
            _check_cell(number, name, value, known)
    return given


def _check_cell(number: int, name: str, value: object, known: set[str]) -> None:
    if name not in known:
        raise ValueError(
            f"expected columns that the model knows; row {number} has {name!r:.100}. Leave it out."
        )
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(
            f"expected text, a number or null in {name!r:.100}; row {number} has a "
            f"{type(value).__name__}."
        )
    if isinstance(value, int | float) and not abs(value) < 1e300:
        raise ValueError(f"expected a number below 1e300 in {name!r:.100}; row {number} has more.")
    if isinstance(value, float) and math.isnan(value):
        raise ValueError(f"expected a number in {name!r:.100}; row {number} has NaN. Send null.")
