"""`gfsvi suggest`."""

import argparse
import sys
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.cli.bounds import parsed_bounds
from gfsvi.cli.outputs import check_outputs
from gfsvi.interchange.digits import beside, significant
from gfsvi.numerics.process import prepare_jax
from gfsvi.storage.container import opened
from gfsvi.tables.reading import TableError, TableFile, load_pandas, write_table

if TYPE_CHECKING:
    import pandas

    from gfsvi.acquisition import Suggestions
    from gfsvi.auto import Fitted

USUAL_BATCH = 1000
"""Compiled programs, where a model needs them, are for about so many rows."""


def run(arguments: argparse.Namespace) -> int:
    """Write the rows to measure next, with what is expected there and a reason for each."""
    tables = {"--candidates": arguments.candidates, "--measured": arguments.measured}
    tables = {option: path for option, path in tables.items() if path is not None}
    check_outputs({"--output": arguments.output}, {"the model": arguments.model} | tables)
    bounds = parsed_bounds(arguments.bounds)
    if bounds and arguments.candidates is not None:
        raise TableError(
            "suggest expects --bounds or --candidates; got both. Leave out rows that are not "
            "wanted from the candidates."
        )
    opened(arguments.model)  # to report a file that is not a model before importing anything
    frames = {option: TableFile(path).frame() for option, path in tables.items()}
    prepare_jax(USUAL_BATCH)
    from gfsvi.acquisition import suggest
    from gfsvi.auto import Fitted

    fitted = Fitted.load(arguments.model)
    candidates = _usable(fitted, frames.get("--candidates"))
    suggestions = suggest(
        fitted,
        bounds if candidates is None else candidates,
        batch=arguments.batch,
        by=arguments.by,
        goal="min" if arguments.minimize else "max",
        measured=_usable(fitted, frames.get("--measured")),
        seed=arguments.seed,
    )
    write_table(_table(suggestions, candidates), arguments.output)
    for number, reason in enumerate(suggestions.reasons, start=1):
        print(f"{number}. {reason}")
    print(f"rows: {arguments.output}")
    return 0


def _usable(fitted: "Fitted", frame: "pandas.DataFrame | None") -> "pandas.DataFrame | None":
    """The table as the model takes it, after a word on what is unusual about it."""
    if frame is None:
        return None
    from gfsvi.cli.tables import prepared

    rows, surprises = prepared(fitted, frame)
    for surprise in surprises:
        print(surprise, file=sys.stderr)
    return rows


def _table(suggestions: "Suggestions", candidates: "pandas.DataFrame | None") -> "pandas.DataFrame":
    """One row per suggestion: its columns, what is expected, and why it is suggested."""
    pandas, std = load_pandas(), suggestions.std
    if candidates is None or suggestions.places is None:
        frame = pandas.DataFrame({n: _short(v) for n, v in suggestions.columns.items()})
    else:
        frame = candidates.iloc[suggestions.places].reset_index(drop=True)
    lower, upper = suggestions.interval
    found = {
        "expected": beside(suggestions.mean, std),
        "std": significant(std),
        "lower": beside(lower, std),
        "upper": beside(upper, std),
        "chance_of_improvement": np.round(suggestions.chance, 4),
        "novelty": np.round(suggestions.novelty, 4),
        "reason": list(suggestions.reasons),
    }
    taken = set(frame.columns)
    named = {(f"suggested_{n}" if n in taken else n): values for n, values in found.items()}
    return frame.assign(**named)


def _short(values: np.ndarray) -> np.ndarray:
    """Numbers with the digits that a person would set."""
    return significant(values) if values.dtype.kind == "f" else values
