"""Reads a fold and prepares its columns for methods outside of the library; imports none of it.

A folder holds `train.csv` with the target, `test.csv` without it, and `fold.json`, which names the
target, its classes if it has any, and a seed. The answer is `prediction.npz` in the same folder.

Every cell is read as text. A column is numeric or a date if all its training cells are, otherwise
it has categories. Columns that are constant, or that identify a row, are left out for everyone.
"""
# The environment that runs this is not the one where types are checked.
# pyright: reportMissingImports=false

import dataclasses
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas

MISSING = {"", "?", "-", "na", "n/a", "nan", "none", "null"}
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d-%m-%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y")
GONE = "(missing)"

Answer = dict[str, np.ndarray]
"""`mean` and `std` (component, row) and `weight` (component,), or `probability` (row, class)."""


@dataclasses.dataclass(frozen=True)
class Columns:
    """How the columns of a table become numbers and categories, learned from training rows."""

    dates: dict[str, str]
    medians: dict[str, float]
    gaps: tuple[str, ...]
    levels: dict[str, tuple[str, ...]]
    centre: np.ndarray
    spread: np.ndarray

    @classmethod
    def learn(cls, table: pandas.DataFrame) -> "Columns":
        """Recognise the columns of training rows."""
        dates, medians, gaps, levels = {}, {}, [], {}
        for name in table.columns:
            cells = table[name]
            form = _form_of_dates(cells)
            if form is not None:
                dates[name] = form
            numbers = _numbers(cells, form)
            if numbers.notna().sum() < cells.notna().sum():
                if not _is_free_text(cells):
                    levels[name] = tuple(sorted(cells.fillna(GONE).unique()))
            elif numbers.nunique() > 1 and not _is_identifier(name, numbers):
                medians[name] = float(numbers.median())
                gaps += [name] if numbers.isna().any() else []
        levels = {name: found for name, found in levels.items() if len(found) > 1}
        blank = cls(dates, medians, tuple(gaps), levels, np.zeros(1), np.ones(1))
        matrix = blank.matrix(table)
        spread = matrix.std(axis=0)
        return dataclasses.replace(
            blank, centre=matrix.mean(axis=0), spread=np.where(spread > 0, spread, 1.0)
        )

    def numbers(self, table: pandas.DataFrame) -> pandas.DataFrame:
        """Numeric columns, with dates as days; what is missing is NaN."""
        columns = {name: _numbers(table[name], self.dates.get(name)) for name in self.medians}
        return pandas.DataFrame(columns, index=table.index, dtype=np.float64)

    def imputed(self, table: pandas.DataFrame) -> pandas.DataFrame:
        """Numeric columns with medians where values are missing, and whether they are."""
        numbers = self.numbers(table)
        flags = {f"{name} is missing": numbers[name].isna().astype(float) for name in self.gaps}
        return pandas.concat([numbers.fillna(self.medians), pandas.DataFrame(flags)], axis=1)

    def categories(self, table: pandas.DataFrame) -> pandas.DataFrame:
        """Columns of categories as texts; what is missing is a category of its own."""
        columns = {name: table[name].fillna(GONE) for name in self.levels}
        return pandas.DataFrame(columns, index=table.index, dtype=object)

    def matrix(self, table: pandas.DataFrame) -> np.ndarray:
        """Imputed numbers and one-hot categories, standardised by the training rows."""
        parts = [self.imputed(table).to_numpy(np.float64)]
        categories = self.categories(table)
        for name, levels in self.levels.items():
            parts.append(categories[name].to_numpy()[:, None] == np.array(levels, object))
        return (np.concatenate(parts, axis=1).astype(np.float64) - self.centre) / self.spread


@dataclasses.dataclass(frozen=True)
class Fold:
    """Training rows with their targets, and test rows."""

    train: pandas.DataFrame
    test: pandas.DataFrame
    y: np.ndarray
    classes: tuple[str, ...] | None
    seed: int

    @classmethod
    def read(cls, folder: Path) -> "Fold":
        """Read the files of a fold; targets are numbers, or numbers of classes."""
        said = json.loads((folder / "fold.json").read_text())
        train, test = (_texts(folder / f"{name}.csv") for name in ("train", "test"))
        cells = train.pop(said["target"])
        if said["classes"] is None:
            y = cells.astype(float).to_numpy()
            return cls(train, test, y, None, said["seed"])
        numbers = {label: number for number, label in enumerate(said["classes"])}
        y = cells.fillna("").map(numbers).to_numpy(np.int64)
        return cls(train, test, y, tuple(said["classes"]), said["seed"])


def normal(mean: np.ndarray, std: np.ndarray) -> Answer:
    """One normal distribution for each test row."""
    return {"mean": mean[None, :], "std": std[None, :], "weight": np.ones(1)}


def answer(fit: Callable[[Fold, Columns], Callable[[pandas.DataFrame], Answer]]) -> None:
    """Fit the fold in the folder that the command names, predict, and write both with seconds."""
    end_with_caller()
    folder = Path(sys.argv[1])
    fold = Fold.read(folder)
    began = time.perf_counter()
    columns = Columns.learn(fold.train)
    predict = fit(fold, columns)
    fitted = time.perf_counter()
    found = predict(fold.test)
    seconds = {"fit_seconds": fitted - began, "predict_seconds": time.perf_counter() - fitted}
    np.savez(folder / "prediction.npz", **found, **seconds)


def end_with_caller() -> None:
    """End this process when its standard input closes: whoever asked is then gone."""

    def watch() -> None:
        while os.read(0, 1024):  # not sys.stdin, whose lock Python wants when it ends
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def held_out_rows(fold: Fold, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of rows to train on and of others to stop by."""
    chosen = some_rows(fold, max(1, round(share * len(fold.y))), seed)
    return np.setdiff1d(np.arange(len(fold.y)), chosen), chosen


def some_rows(fold: Fold, number: int, seed: int) -> np.ndarray:
    """Positions of random rows; every class has its share of them."""
    order = np.random.default_rng(seed).permutation(len(fold.y))
    if fold.classes is not None:
        order = order[np.argsort(fold.y[order], kind="stable")]
    number = min(number, len(order))
    # The middle of each of so many equal parts: of rows in order of classes, or of random ones.
    places = ((np.arange(number) + 0.5) * len(order) / number).astype(int)
    return np.sort(order[places])


def _texts(path: Path) -> pandas.DataFrame:
    table = pandas.read_csv(path, dtype=str, keep_default_na=False)
    table = table.apply(lambda cells: cells.str.strip())
    is_missing = table.apply(lambda cells: cells.str.lower().isin(MISSING))
    return pandas.DataFrame(table.mask(is_missing), dtype=object)


def _form_of_dates(cells: pandas.Series) -> str | None:
    present = cells.dropna()
    for form in DATES if len(present) else ():
        if pandas.to_datetime(present, format=form, errors="coerce").notna().all():
            return form
    return None


def _numbers(cells: pandas.Series, form: str | None) -> pandas.Series:
    if form is None:
        numbers = np.array(pandas.to_numeric(cells, errors="coerce"), np.float64)
        return pandas.Series(np.where(np.isfinite(numbers), numbers, np.nan), cells.index)
    times = pandas.to_datetime(cells, format=form, errors="coerce")
    return (times - pandas.Timestamp("2000-01-01")) / pandas.Timedelta(days=1)


def _is_free_text(cells: pandas.Series) -> bool:
    return cells.nunique() > 0.5 * cells.notna().sum()


def _is_identifier(name: str, numbers: pandas.Series) -> bool:
    ends = name.lower().endswith(("id", "_nr", "number"))
    return ends and numbers.is_unique and bool((numbers == numbers.round()).all())
