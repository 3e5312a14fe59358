"""`gfsvi studio`."""

import argparse
import contextlib
from pathlib import Path

from gfsvi.studio.opened import Tables, rows_of
from gfsvi.studio.server import Studio
from gfsvi.studio.serving import serve
from gfsvi.tables.reading import read_bytes


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until it is interrupted."""
    if arguments.table is None and arguments.target is not None:
        raise ValueError("--target expects a table; got none. Name it: gfsvi studio TABLE.")
    first = None
    if arguments.table is not None:
        path = Path(arguments.table)
        first = Tables().open(path.name, read_bytes(path))
        if arguments.target is not None:  # what is wrong is said here, not in the page
            rows_of(first, arguments.target)
    with contextlib.suppress(KeyboardInterrupt):  # which is how a studio ends
        serve(Studio(first, arguments.target), arguments.port)
    return 0
