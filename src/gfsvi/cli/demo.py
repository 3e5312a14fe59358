"""`gfsvi demo`: fit, predict and evaluate on a real table."""

import argparse
import shlex
from pathlib import Path
from typing import cast

import numpy as np

from gfsvi.tables.reading import TableError, load_pandas, write_table


def run(arguments: argparse.Namespace) -> int:
    """Fit scikit-learn's diabetes table, predict and score held-out rows, and write the page."""
    from gfsvi.cli.main import main

    folder = Path(arguments.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(
            f"--output expects a folder that can be created; got {arguments.output!r} "
            f"({error.strerror}). Name another."
        ) from None
    known, new = folder / "known.csv", folder / "new.csv"
    _write_tables(known, new)
    model, page = folder / "model.gfsvi", folder / "report.html"
    quiet = ["--quiet"] if arguments.quiet else []
    commands = [
        ["fit", known, "--target", "progression", "--output", model, "--report", page, *quiet],
        ["predict", model, new, "--output", folder / "predictions.csv"],
        ["evaluate", model, new],
    ]
    print(
        "Diabetes progression after a year, from ten measurements of 442 patients (Efron et al. "
        "2004,\nshipped with scikit-learn). A fifth of them is held out as new."
    )
    for command in commands:
        words = [str(word) for word in command]
        print(f"\n$ gfsvi {shlex.join(words)}", flush=True)
        status = main(words)
        if status:
            return status
    print(f"\nOpen {page} in a browser: what was learned, and where not to trust it.")
    return 0


def _write_tables(known: Path, new: Path) -> None:
    from sklearn.datasets import load_diabetes
    from sklearn.utils import Bunch

    bunch = cast(Bunch, load_diabetes(scaled=False))
    frame = load_pandas().DataFrame(bunch.data, columns=bunch.feature_names)
    frame["sex"] = np.where(frame["sex"] == 1, "one", "other")
    frame["progression"] = bunch.target
    order = np.random.default_rng(0).permutation(len(frame))
    write_table(frame.iloc[np.sort(order[88:])], known)
    write_table(frame.iloc[np.sort(order[:88])], new)
