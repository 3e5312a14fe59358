"""Commands that are imported when they run."""

import argparse
import importlib
from collections.abc import Callable, Sequence

from gfsvi.numerics.extras import check_extra


def command_of(
    module: str, name: str = "run", *, extras: Sequence[str] = ()
) -> Callable[[argparse.Namespace], int]:
    """A function of `gfsvi.cli`, whose module and extras are needed when it is called."""

    def run(arguments: argparse.Namespace) -> int:
        for extra in extras:
            check_extra(extra, f"`gfsvi {arguments.command}`")
        if getattr(arguments, "report", None) is not None:
            check_extra("report", "--report")
        return getattr(importlib.import_module(f"gfsvi.cli.{module}"), name)(arguments)

    return run
