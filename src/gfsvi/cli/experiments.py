"""Arguments of the commands that compare methods."""

import argparse

from gfsvi.cli.loading import command_of
from gfsvi.cli.parsing import positive, whole_number

GOES_ON = "finished runs are kept. Run the same command again: it goes on from there."
"""What becomes of an experiment that is interrupted."""


def add_bench(commands: argparse._SubParsersAction) -> None:
    """`gfsvi bench`."""
    bench = commands.add_parser("bench", help="compare methods over data sets and folds")
    verbs = bench.add_subparsers(
        dest="verb", required=True, metavar="run|tune|report|verify|schema|peers"
    )
    command = verbs.add_parser("run", help="execute every run that has no record yet")
    _add_experiment(command)
    command.add_argument("--retry", action="store_true", help="run failed runs again")
    command.add_argument(
        "--again", action="store_true", help="first forget the records of the chosen runs"
    )
    command.set_defaults(run=command_of("bench", "run", extras=("bench",)))
    command = verbs.add_parser(
        "tune", help="search for the settings that score best on validation data"
    )
    _add_experiment(command)
    command.add_argument("--trials", type=positive, help="number of trials per data set and method")
    command.set_defaults(run=command_of("bench", "tune", extras=("bench", "search")))
    command = verbs.add_parser("report", help="write tables and figures from the records")
    command.add_argument("folder", metavar="DIR", help="a folder written by `run`")
    command.add_argument("-o", "--output", metavar="PAGE", help="where to write the page")
    command.set_defaults(run=command_of("bench", "report", extras=("bench",)))
    _add_verify(verbs)
    command = verbs.add_parser("schema", help="print a JSON schema of experiment files")
    command.set_defaults(run=command_of("bench", "schema", extras=("bench",)))
    command = verbs.add_parser("peers", help="install the methods outside of the library")
    command.set_defaults(run=command_of("bench", "peers", extras=("bench",)))


def _add_verify(verbs: argparse._SubParsersAction) -> None:
    command = verbs.add_parser(
        "verify", help="repeat runs chosen at random and compare them with their records"
    )
    command.add_argument("folder", metavar="DIR", help="a folder written by `run`")
    command.add_argument(
        "--sample", type=positive, default=10, help="number of runs to repeat; default: 10"
    )
    command.add_argument(
        "--seed", type=whole_number, default=0, help="chooses the runs; default: 0"
    )
    command.set_defaults(run=command_of("bench", "verify", extras=("bench",)))


def _add_experiment(command: argparse.ArgumentParser) -> None:
    """Arguments that select runs and say where they are executed and recorded."""
    command.set_defaults(if_interrupted=GOES_ON)
    command.add_argument("experiment", help="a TOML file")
    command.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder of the records"
    )
    where = command.add_mutually_exclusive_group()
    where.add_argument("--workers", type=positive, default=1, help="processes on this machine")
    where.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster, or `local`")
    for option in ("dataset", "method"):
        command.add_argument(
            f"--{option}", action="append", help="only this one; repeat for several"
        )
    for option in ("fold", "seed"):
        command.add_argument(
            f"--{option}", type=whole_number, action="append", help="only this one"
        )
    command.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
