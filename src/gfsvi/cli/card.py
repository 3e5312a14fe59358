"""`gfsvi card`."""

import argparse
from pathlib import Path

from gfsvi.cli.evaluate import scored
from gfsvi.cli.outputs import check_outputs
from gfsvi.storage.container import opened
from gfsvi.storage.files import write_bytes
from gfsvi.tables.reading import TableFile


def run(arguments: argparse.Namespace) -> int:
    """Write what a model is, and what to know before trusting it, as Markdown."""
    inputs = {"the model": arguments.model}
    if arguments.table is not None:
        inputs["--table"] = arguments.table
    check_outputs({"--output": arguments.output}, inputs)
    frame = None if arguments.table is None else TableFile(arguments.table).frame()
    opened(arguments.model)  # to report a file that is not a model before importing anything
    from gfsvi.auto import Fitted
    from gfsvi.report.card import card

    fitted = Fitted.load(arguments.model)
    scores = None if frame is None else scored(fitted, frame)
    text = card(fitted, Path(arguments.model).stem, scores)
    write_bytes(arguments.output, text.encode())
    print(f"card: {arguments.output}")
    return 0
