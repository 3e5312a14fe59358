"""`gfsvi predict`."""

import argparse
import sys
from typing import TYPE_CHECKING

from gfsvi.cli.kept import check_kept, with_kept
from gfsvi.cli.outputs import check_outputs
from gfsvi.cli.sources import are_several, streamed_source
from gfsvi.cli.tables import decision_of, prepared
from gfsvi.interchange.predictions import prediction_table
from gfsvi.numerics.process import prepare_jax
from gfsvi.numerics.threads import MANY_ROWS
from gfsvi.serving import read_predictor
from gfsvi.tables.reading import TableFile, write_table
from gfsvi.tables.sources import TableFiles

if TYPE_CHECKING:
    from gfsvi.auto import Fitted


def run(arguments: argparse.Namespace) -> int:
    """Write one row of predictions per row of a table."""
    inputs = {"the model": arguments.model, "the table": arguments.table}
    check_outputs({"--output": arguments.output}, inputs)
    source = streamed_source(arguments.table, arguments.stream, arguments.in_memory)
    if source is None and are_several(arguments.table):
        source = TableFiles.at(arguments.table)
    if source is not None:
        from gfsvi.cli.in_pieces import predict

        return predict(arguments, source)
    file = TableFile(arguments.table)
    kept = check_kept(file, arguments.id, arguments.keep)
    predictor = read_predictor(arguments.model)
    frame = file.frame()
    if predictor is None or len(frame) >= MANY_ROWS:
        predictor = _with_jax(arguments.model, len(frame))
    rows, surprises = prepared(predictor, frame)
    for surprise in surprises:
        print(surprise, file=sys.stderr)
    decision = decision_of(predictor, arguments.threshold, arguments.positive)
    predictions = prediction_table(predictor, rows, arguments.level, decision)
    write_table(with_kept(predictions, file, kept, arguments.id), arguments.output)
    print(f"predictions: {arguments.output}")
    return 0


def _with_jax(model: str, num_rows: int) -> "Fitted":
    """The model, for predictions by compiled programs."""
    prepare_jax(num_rows)
    from gfsvi.auto import Fitted

    return Fitted.load(model)
