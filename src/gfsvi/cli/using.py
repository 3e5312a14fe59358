"""Arguments of the commands that put a fitted model to use."""

import argparse

from gfsvi.cli.loading import command_of
from gfsvi.cli.parsing import one_of, positive, suggest, whole_number


def add_suggest(commands: argparse._SubParsersAction) -> None:
    """`gfsvi suggest`."""
    command = commands.add_parser(
        "suggest", help="suggest which rows to measure next, with a reason for each"
    )
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument(
        "--bounds",
        nargs="+",
        action="extend",
        default=[],
        metavar="COLUMN=RANGE",
        help="what a column may be: low:high, low:high:step, a,b,c or one value; "
        "default: what it was in the rows of the fit",
    )
    command.add_argument(
        "--candidates", metavar="TABLE", help="choose among the rows of this CSV or Parquet file"
    )
    command.add_argument(
        "--measured", metavar="TABLE", help="the rows that were measured, if over a thousand"
    )
    command.add_argument("--batch", type=positive, default=1, help="number of rows; default: 1")
    command.add_argument(
        "--minimize", action="store_true", help="small values are good; default: large ones are"
    )
    ways = ("improvement", "confidence", "thompson", "information", "uncertainty")
    action = command.add_argument(
        "--by", type=one_of(*ways), default=ways[0], metavar="WAY", help=", ".join(ways)
    )
    suggest(action, lambda: ways)
    command.add_argument("--seed", type=whole_number, default=0, help="random seed; default: 0")
    command.add_argument(
        "-o", "--output", required=True, metavar="ROWS", help="the CSV or Parquet file to write"
    )
    command.set_defaults(run=command_of("suggest", extras=("tables",)))


def add_serve(commands: argparse._SubParsersAction) -> None:
    """`gfsvi serve`."""
    command = commands.add_parser("serve", help="predict rows over HTTP, JSON in and JSON out")
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument(
        "--host", default="127.0.0.1", help="address to listen at; default: this machine alone"
    )
    command.add_argument("--port", type=positive, default=8000, help="default: 8000")
    command.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer requests to this name, too; on loopback only localhost is answered otherwise",
    )
    command.add_argument(
        "--max-rows", type=positive, default=1000, help="rows per request; default: 1000"
    )
    command.add_argument(
        "--max-bytes", type=positive, default=2**20, help="bytes per request; default: 1048576"
    )
    command.set_defaults(run=command_of("serve", extras=("serve", "tables")))


def add_export(commands: argparse._SubParsersAction) -> None:
    """`gfsvi export`."""
    command = commands.add_parser(
        "export", help="write a program that predicts and needs JAX alone, or ONNX"
    )
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="PROGRAM",
        help="the file to write; NAME.onnx for ONNX",
    )
    command.set_defaults(run=command_of("export"))


def add_card(commands: argparse._SubParsersAction) -> None:
    """`gfsvi card`."""
    command = commands.add_parser(
        "card", help="write a model card: what the model is and what to know before trusting it"
    )
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument("--table", metavar="TABLE", help="add scores on the rows of this table")
    command.add_argument(
        "-o", "--output", required=True, metavar="CARD", help="the Markdown file to write"
    )
    command.set_defaults(run=command_of("card", extras=("tables",)))
