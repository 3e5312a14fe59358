"""The options of `gfsvi fit`, and those of all commands that read a table."""

import argparse

from gfsvi import registry
from gfsvi.cli.parsing import level, one_of, positive, suggest, whole_number


def add_reading(command: argparse.ArgumentParser) -> None:
    """Whether a table is read into memory."""
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--stream", action="store_true", help="read the table piece by piece, however small"
    )
    where.add_argument(
        "--in-memory", action="store_true", help="read the whole table into memory, however large"
    )


def add_processes(command: argparse.ArgumentParser) -> None:
    """Several processes that fit one model."""
    command.add_argument(
        "--processes", type=positive, metavar="N", help="fit with N processes on this machine"
    )
    command.add_argument(
        "--ray", metavar="ADDRESS", help="let a Ray cluster start the processes; or `local`"
    )
    command.add_argument(
        "--coordinator",
        metavar="HOST:PORT",
        help="where process 0 of several machines listens, with --num-processes and --process-id",
    )
    command.add_argument("--num-processes", type=positive, metavar="N", help="of all machines")
    command.add_argument("--process-id", type=whole_number, metavar="I", help="of this one, from 0")


def add_rows_of_fit(command: argparse.ArgumentParser) -> None:
    """Which rows are used, where they are read, and how they count."""
    add_reading(command)
    add_processes(command)
    command.add_argument(
        "--weight", metavar="COLUMN", help="a column that says how often each row counts"
    )
    ways = ("auto", "end", "random", "none")
    action = command.add_argument(
        "--hold-out",
        type=one_of(*ways),
        default="auto",
        metavar="ROWS",
        help=f"which rows to hold out for evaluation: {', '.join(ways)}",
    )
    suggest(action, lambda: ways)
    command.add_argument(
        "--guarantee",
        type=level,
        metavar="LEVEL",
        help="set a fifth of the rows aside, so that this share of intervals contains the target",
    )


def add_choices_of_fit(command: argparse.ArgumentParser) -> None:
    """The method, the prior and the likelihood."""
    tasks = ("auto", "regression", "classification")
    action = command.add_argument(
        "--task", type=one_of(*tasks), default="auto", help=", ".join(tasks)
    )
    suggest(action, lambda: tasks)
    action = command.add_argument(
        "-m", "--method", default="gfsvi", help="see `gfsvi list methods`"
    )
    suggest(action, registry.methods)
    action = command.add_argument(
        "-k",
        "--kernel",
        default="auto",
        help="a name from `gfsvi list kernels`, or kernels in the units of columns: "
        '\'Periodic(period="1 year").on("date") + RBF()\'',
    )
    suggest(action, lambda: ("auto", *registry.names("kernels")))
    action = command.add_argument(
        "-l", "--likelihood", default="auto", help="see `gfsvi list likelihoods`"
    )
    suggest(action, lambda: ("auto", *registry.names("likelihoods")))
    means = ("auto", "trees", "none")
    action = command.add_argument(
        "--prior-mean",
        type=one_of(*means),
        default="auto",
        metavar="MEAN",
        help=f"whether the network builds on trees: {', '.join(means)}",
    )
    suggest(action, lambda: means)
    command.add_argument(
        "--members",
        type=positive,
        default=1,
        metavar="N",
        help="number of networks that are trained and mixed; default: 1",
    )
