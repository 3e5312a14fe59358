"""`gfsvi evaluate`."""

import argparse
import json
import sys

import numpy as np

from gfsvi.numerics.process import prepare_jax
from gfsvi.tables.reading import TableError, read_table


def run(arguments: argparse.Namespace) -> int:
    """Print scores on rows whose target is known."""
    frame = read_table(arguments.table)
    prepare_jax(len(frame))
    from gfsvi.auto import Fitted

    fitted = Fitted.load(arguments.model)
    preparation = fitted.preparation
    if preparation is None:
        raise TableError(
            "expected a model that knows its target column; got one fitted to arrays. "
            "Fit it with `gfsvi fit` or estimator.fit_table."
        )
    rows = preparation.usable_rows(frame)
    if not np.any(rows):
        raise TableError(
            f"expected rows whose target {', '.join(map(repr, preparation.target))} is known; got "
            "none. Use a table with the target."
        )
    frame = frame[rows]
    for surprise in preparation.surprises(frame):
        print(surprise, file=sys.stderr)
    scores = fitted.evaluate(frame, preparation.observations(frame))
    if arguments.json:
        print(json.dumps(scores))
    else:
        width = max(map(len, scores))
        for name, value in scores.items():
            print(f"{name.replace('_', ' '):<{width}}  {value:.4g}")
    return 0
