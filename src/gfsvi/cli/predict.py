"""`gfsvi predict`."""

import argparse
import sys

from gfsvi.cli.outputs import check_outputs
from gfsvi.cli.tables import prediction_table, prepared
from gfsvi.numerics.process import prepare_jax
from gfsvi.tables.reading import read_table, write_table


def run(arguments: argparse.Namespace) -> int:
    """Write one row of predictions per row of a table."""
    inputs = {"the model": arguments.model, "the table": arguments.table}
    check_outputs({"--output": arguments.output}, inputs)
    frame = read_table(arguments.table)
    prepare_jax(len(frame))
    from gfsvi.auto import Fitted

    fitted = Fitted.load(arguments.model)
    rows, surprises = prepared(fitted, frame)
    for surprise in surprises:
        print(surprise, file=sys.stderr)
    write_table(prediction_table(fitted, rows, arguments.level), arguments.output)
    print(f"predictions: {arguments.output}")
    return 0
