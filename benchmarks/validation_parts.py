"""What a default is worth, on validation parts of training folds: test rows are never looked at.

GFSVI_DATA=DIR python -m benchmarks.validation_parts [--set NAME=VALUE ...]
    [--constant MODULE:NAME=VALUE ...] [--fold 0] [--parts 2] [--output FILE.jsonl] NAME ...

NAME is a table of the experiment `tables`. The training rows of the fold are divided once more:
four fifths are learned from, one fifth is predicted, part by part. `--set` is a parameter of the
estimators, `--constant` a constant of a module of the library; values are Python literals.
Records have both, the scores of the task `tables`, and seconds of processing.
"""

import argparse
import ast
import contextlib
import time
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.recording import Record, append_record
from gfsvi.bench.data.raw_tables import TableFold, raw_table
from gfsvi.bench.own_fits import predicted_by_us
from gfsvi.bench.tabular import scores

SHARES = 5
SHOWN = ("log_predictive_density", "mse", "crps", "coverage", "accuracy", "cpu_seconds")


def part_of(fold: TableFold, number: int) -> TableFold:
    """Training rows of a fold, of which every fifth is predicted; the fold's test rows are gone."""
    kind = KFold if fold.classes is None else StratifiedKFold
    divided = kind(SHARES, shuffle=True, random_state=1).split(fold.train, fold.y_train)
    known, unseen = list(divided)[number]
    table, y = fold.train, fold.y_train
    rows, held_out = table.iloc[known], table.iloc[unseen]
    return TableFold(rows, held_out, fold.target, y[known], y[unseen], fold.classes)


def literal(text: str) -> tuple[str, Any]:
    """A name and the Python literal after it; any other text is itself."""
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def measured(
    name: str, fold: int, part: int, settings: dict[str, Any], constants: dict[str, Any]
) -> Record:
    """Scores of a fit to a part of the training rows, and the seconds of processing it took.

    Args:
        name: The table.
        fold: The fold whose training rows are divided.
        part: The part of them to predict.
        settings: Parameters of the estimators.
        constants: Values for the time of the fit, such as of "gfsvi.prior_means.folds:NUM_FOLDS".
    """
    rows, began = part_of(raw_table(name).fold(fold), part), time.process_time()
    with warnings.catch_warnings(), contextlib.ExitStack() as changed:
        warnings.simplefilter("ignore")
        for place, value in constants.items():
            changed.enter_context(mock.patch(place.replace(":", "."), value))
        predicted = predicted_by_us({"method": "gfsvi"} | settings, rows, part)
    seconds = time.process_time() - began
    return scores(predicted, rows) | {"cpu_seconds": seconds}


def main() -> None:
    """Measure, print, and append records to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--set", action="append", default=[], type=literal)
    parser.add_argument("--constant", action="append", default=[], type=literal)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--output", type=Path, metavar="FILE.jsonl")
    given = parser.parse_args()
    what = {"settings": dict(given.set), "constants": dict(given.constant)}
    for name in given.names:
        for part in range(given.parts):
            found = measured(name, given.fold, part, **what)
            shown = "  ".join(f"{key} {found[key]:.4f}" for key in SHOWN if key in found)
            print(f"{name} {part}  {shown}", flush=True)
            if given.output is not None:
                append_record(
                    given.output, {"dataset": name, "fold": given.fold, "part": part} | what | found
                )


if __name__ == "__main__":
    main()
