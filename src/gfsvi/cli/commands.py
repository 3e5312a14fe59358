"""The commands of `gfsvi`, and their arguments.

Commands are imported when they run: help and a misspelt option need neither JAX nor pandas, which
take seconds to import.
"""

import argparse

from gfsvi import __version__
from gfsvi.cli import completion, experiments, listing, using
from gfsvi.cli.fit_options import add_choices_of_fit, add_reading, add_rows_of_fit
from gfsvi.cli.loading import command_of
from gfsvi.cli.parsing import (
    Parser,
    level,
    one_of,
    seconds,
    suggest,
    whole_number,
)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    whole = Parser(
        prog="gfsvi",
        description="Predictions that know what they do not know, from a table.",
        epilog="Start with `gfsvi demo`. Completion in your shell: `gfsvi completion --help`.",
    )
    whole.add_argument("--version", action="version", version=f"gfsvi {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_fit(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    using.add_suggest(commands)
    using.add_serve(commands)
    using.add_export(commands)
    using.add_card(commands)
    _add_studio(commands)
    experiments.add_bench(commands)
    _add_list(commands)
    _add_completion(commands)
    return whole


def _add_demo(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("demo", help="fit an example table and write its report page")
    command.add_argument("-o", "--output", default="gfsvi-demo", metavar="FOLDER")
    command.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    command.set_defaults(run=command_of("demo", extras=("tables", "report")))


def _add_fit(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "fit", help="fit a model that predicts one column of a table from the others"
    )
    command.add_argument("table", help="a CSV or Parquet file, a folder or a pattern of them")
    command.add_argument(
        "-t",
        "--target",
        required=True,
        action="append",
        metavar="COLUMN",
        help="the column to predict; repeat for several",
    )
    add_choices_of_fit(command)
    add_rows_of_fit(command)
    command.add_argument("--seed", type=whole_number, default=0, help="random seed; default: 0")
    command.add_argument(
        "--time-budget",
        type=seconds,
        metavar="SECONDS",
        help="return the best model found within this time",
    )
    command.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="where to write the model"
    )
    command.add_argument(
        "-r", "--report", metavar="PAGE", help="also write a page that explains the model"
    )
    command.add_argument(
        "-q", "--quiet", action="store_true", help="show neither progress nor remarks"
    )
    command.set_defaults(run=command_of("fit", extras=("tables",)))


def _add_predict(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("predict", help="predict the rows of a table, with uncertainty")
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument("table", help="a CSV or Parquet file, a folder or a pattern of them")
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PREDICTIONS",
        help="the CSV or Parquet file to write",
    )
    command.add_argument(
        "--level",
        type=level,
        help="probability of the intervals; default: what the model guarantees, or 0.95",
    )
    command.add_argument(
        "--id", metavar="COLUMN", help="copy this column of the table, as the first one"
    )
    command.add_argument(
        "--keep",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="copy these columns of the table as well",
    )
    _add_decision(command)
    add_reading(command)
    command.set_defaults(run=command_of("predict", extras=("tables",)))


def _add_evaluate(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "evaluate", help="score predictions on rows whose target is known"
    )
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument("table", help="a CSV or Parquet file, or a folder, with the target")
    _add_decision(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_reading(command)
    command.set_defaults(run=command_of("evaluate", extras=("tables",)))


def _add_studio(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "studio", help="open a local page on which to build a prior and see what it means"
    )
    command.add_argument("table", nargs="?", help="a CSV or Parquet file to look at")
    command.add_argument("-t", "--target", metavar="COLUMN", help="the column to predict")
    command.add_argument(
        "--port", type=whole_number, default=0, help="the port to listen on; default: any free one"
    )
    command.set_defaults(run=command_of("studio", extras=("tables", "report", "studio")))


def _add_decision(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--threshold",
        type=level,
        metavar="PROBABILITY",
        help="with two classes, predict the positive one from this probability on",
    )
    command.add_argument(
        "--positive", metavar="CLASS", help="the positive class; by default the second in order"
    )


def _add_list(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("list", help="list available kernels, methods, data sets, ...")
    names = listing.collections()
    action = command.add_argument(
        "collection", nargs="?", type=one_of(*names), help=", ".join(names)
    )
    suggest(action, listing.collections)
    command.set_defaults(run=listing.run)


def _add_completion(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "completion",
        help="print a script that completes commands in your shell",
        description="Print a script that completes commands, options and names in your shell.",
        epilog='bash and zsh: add `eval "$(gfsvi completion bash)"` (or zsh) to ~/.bashrc (or '
        "~/.zshrc). fish: `gfsvi completion fish > ~/.config/fish/completions/gfsvi.fish`.",
    )
    action = command.add_argument("shell", type=one_of(*completion.SHELLS), help="bash, zsh, fish")
    suggest(action, lambda: completion.SHELLS)
    command.set_defaults(run=lambda arguments: completion.run(arguments.shell, parser()))
