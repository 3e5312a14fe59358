"""`gfsvi evaluate`."""

import argparse
import dataclasses
import json
import sys
from typing import TYPE_CHECKING, cast

import numpy as np

from gfsvi.cli.sources import streamed_source, table_in_memory
from gfsvi.cli.tables import decision_of
from gfsvi.numerics.process import prepare_jax
from gfsvi.numerics.threads import MANY_ROWS
from gfsvi.storage.container import opened
from gfsvi.tables.reading import TableError

if TYPE_CHECKING:
    import pandas

    from gfsvi.auto import Fitted
    from gfsvi.auto.scores import Decision
    from gfsvi.auto.targets import Labels
    from gfsvi.tables.sources import TableFiles


def run(arguments: argparse.Namespace) -> int:
    """Print scores on rows whose target is known."""
    source = streamed_source(arguments.table, arguments.stream, arguments.in_memory)
    file = table_in_memory(arguments.table) if source is None else source
    opened(arguments.model)  # to report a file that is not a model before importing anything
    frame = file.frame() if source is None else None
    prepare_jax(MANY_ROWS if frame is None else len(frame))
    from gfsvi.auto import Fitted

    fitted = Fitted.load(arguments.model)
    decision = decision_of(fitted, arguments.threshold, arguments.positive)
    if frame is None:
        from gfsvi.cli.in_pieces import evaluate

        scores = evaluate(cast("TableFiles", source), fitted, decision)
    else:
        scores = scored(fitted, frame, decision)
    if arguments.json:
        print(json.dumps(scores))
    else:
        print(_table(scores, fitted, decision))
    return 0


def scored(
    fitted: "Fitted", frame: "pandas.DataFrame", decision: "Decision | None" = None
) -> dict[str, float]:
    """Scores on the rows of a table whose target is known."""
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
    frame = frame.loc[rows]
    for surprise in preparation.surprises(frame):
        print(surprise, file=sys.stderr)
    return fitted.evaluate(frame, preparation.observations(frame), decision)


def _table(scores: dict[str, float], fitted: "Fitted", decision: "Decision | None") -> str:
    """The scores beside those of a guess that ignores the inputs."""
    names = [name for name in scores if not name.endswith("_baseline")]
    width = max(map(len, names))
    lines = [f"{'':<{width}}  {'model':>10}  {'baseline':>10}"]
    for name in names:
        guess = scores.get(f"{name}_baseline")
        line = f"{name.replace('_', ' '):<{width}}  {scores[name]:>10.4g}"
        lines.append(line if guess is None else f"{line}  {guess:>10.4g}")
    return "\n".join([*lines, "", *_footnotes(fitted, decision)])


def _footnotes(fitted: "Fitted", decision: "Decision | None") -> list[str]:
    if fitted.task != "classification":
        return ["baseline: always predicting the mean and spread of these targets"]
    notes = ["baseline: always predicting the class frequencies of these rows"]
    classes = cast("Labels", fitted.target).classes
    if len(classes) != 2:
        return [*notes, "auc, precision, recall: means over the classes"]
    positive, threshold = (1, 0.5) if decision is None else dataclasses.astuple(decision)
    return [
        *notes,
        f"auc, precision, recall: of class {str(classes[positive])!r}, predicted where its "
        f"probability is at least {threshold:g}",
    ]
