"""`gfsvi predict`."""

import argparse
import sys

from gfsvi.cli.compilation import prepare_jax
from gfsvi.cli.fit import check_writable
from gfsvi.cli.tables import prediction_table, prepared
from gfsvi.table import read_table, write_table


def run(arguments: argparse.Namespace) -> int:
    """Write a row of predictions for each row of a table."""
    check_writable(arguments.output, "--output")
    frame = read_table(arguments.table)
    prepare_jax(len(frame))
    from gfsvi.estimators import load

    estimator = load(arguments.model)
    inputs, surprises = prepared(estimator, frame)
    for surprise in surprises:
        print(surprise, file=sys.stderr)
    write_table(prediction_table(estimator, inputs, arguments.level), arguments.output)
    print(f"predictions: {arguments.output}")
    return 0
