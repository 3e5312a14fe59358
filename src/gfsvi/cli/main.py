"""Parse the command line, run the command, and report errors in one sentence.

Commands are imported when they run: help and a misspelt option need neither JAX nor pandas, which
take seconds to import.
"""

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

from gfsvi import __version__
from gfsvi.cli import listing
from gfsvi.numerics.extras import MissingExtraError, check_extra

BAD_INPUT, INTERRUPTED, TERMINATED = 2, 130, 143
_SENTENCES = (ValueError, TypeError, ArithmeticError, OSError, MemoryError, RuntimeError)
"""Errors whose message is meant for users."""


class _Parser(argparse.ArgumentParser):
    """A parser with one-sentence errors and without abbreviated options."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        missing = message.removeprefix("the following arguments are required: ")
        if missing != message:
            message = f"expected a value for {missing}; got none"
        message = message.removeprefix("argument ")
        self.exit(BAD_INPUT, f"gfsvi: {message}; see `{self.prog} --help`.\n")


class _Terminated(BaseException):
    """Raised where a command is when its process is asked to end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all went well, 2 for bad input, 130 or 143 if interrupted."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # file names may be in any alphabet
        sys.stdout.reconfigure(errors="backslashreplace")
    began = time.monotonic()
    parsed = parser().parse_args(arguments, argparse.Namespace(began=began))
    try:
        with _ending_orderly():
            status = parsed.run(parsed)
        sys.stdout.flush()
        return status
    except (KeyboardInterrupt, _Terminated) as end:
        print("gfsvi: interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED if isinstance(end, KeyboardInterrupt) else TERMINATED
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (*_SENTENCES, MissingExtraError) as error:
        print(f"gfsvi: {_one_sentence(error)}", file=sys.stderr)
        return BAD_INPUT


@contextlib.contextmanager
def _ending_orderly() -> Iterator[None]:
    """Let SIGTERM end a command as control-C does: drafts are removed, workers are stopped.

    Python ignores an exception that is raised in a callback or a destructor, so that the signal is
    repeated until the command has ended.
    """
    timers: list[threading.Timer] = []

    def end(number: int, frame: FrameType | None) -> NoReturn:
        timers.append(threading.Timer(1.0, os.kill, (os.getpid(), number)))
        timers[-1].daemon = True
        timers[-1].start()
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    hook, sys.unraisablehook = sys.unraisablehook, _silent_about_interruptions
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for timer in timers:
            timer.cancel()
        signal.signal(signal.SIGTERM, before)
        sys.unraisablehook = hook


def _silent_about_interruptions(ignored: "sys.UnraisableHookArgs") -> None:
    """Print what Python ignores, but not an interruption in a destructor, which is repeated."""
    if not issubclass(ignored.exc_type, KeyboardInterrupt | _Terminated):
        sys.__unraisablehook__(ignored)


def _one_sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text or f"{type(error).__name__} without a message. Please report this."


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    whole = _Parser(
        prog="gfsvi",
        description="Predictions that know what they do not know, from a table.",
        epilog="Start with `gfsvi demo`.",
    )
    whole.add_argument("--version", action="version", version=f"gfsvi {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_fit(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    _add_bench(commands)
    _add_list(commands)
    return whole


def _add_demo(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("demo", help="fit a real table and write its page")
    command.add_argument("--output", default="gfsvi-demo", metavar="FOLDER")
    command.add_argument("--quiet", action="store_true", help="no progress")
    command.set_defaults(run=_command("demo", extras=("tables", "report")))


def _add_fit(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "fit", help="learn to predict a column of a table from the others"
    )
    command.add_argument("table", help="a CSV or Parquet file")
    command.add_argument(
        "--target",
        required=True,
        action="append",
        metavar="COLUMN",
        help="the column to predict; repeat for several",
    )
    tasks = ("auto", "regression", "classification")
    command.add_argument("--task", type=_one_of(*tasks), default="auto", help=", ".join(tasks))
    command.add_argument("--method", default="gfsvi", help="see `gfsvi list methods`")
    command.add_argument("--kernel", default="auto", help="see `gfsvi list kernels`")
    command.add_argument("--likelihood", default="auto", help="see `gfsvi list likelihoods`")
    command.add_argument("--weight", metavar="COLUMN", help="a column of row weights")
    command.add_argument("--seed", type=_whole_number, default=0)
    command.add_argument("--time-budget", type=_seconds, metavar="SECONDS")
    command.add_argument("--output", required=True, metavar="MODEL", help="the model file")
    command.add_argument("--report", metavar="PAGE", help="a page that explains the model")
    command.add_argument("--quiet", action="store_true", help="no progress, no remarks")
    command.set_defaults(run=_command("fit", extras=("tables",)))


def _add_predict(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("predict", help="predictions for the rows of a table")
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument("table", help="a CSV or Parquet file")
    command.add_argument("--output", required=True, metavar="PREDICTIONS")
    command.add_argument(
        "--level", type=_level, default=0.95, help="probability of the intervals; default: 0.95"
    )
    command.add_argument("--id", metavar="COLUMN", help="copy this column as the first one")
    command.add_argument(
        "--keep", nargs="+", default=[], metavar="COLUMN", help="copy these columns, too"
    )
    _add_decision(command)
    command.set_defaults(run=_command("predict", extras=("tables",)))


def _add_evaluate(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("evaluate", help="scores on rows whose target is known")
    command.add_argument("model", help="a file written by `gfsvi fit`")
    command.add_argument("table", help="a CSV or Parquet file with the target")
    _add_decision(command)
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(run=_command("evaluate", extras=("tables",)))


def _add_decision(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--threshold",
        type=_level,
        metavar="PROBABILITY",
        help="of two classes, predict the positive one from this probability on",
    )
    command.add_argument("--positive", metavar="CLASS", help="by default the second in order")


def _add_bench(commands: argparse._SubParsersAction) -> None:
    bench = commands.add_parser("bench", help="run experiments: data sets x methods x folds")
    verbs = bench.add_subparsers(dest="verb", required=True, metavar="run|tune|report")
    command = verbs.add_parser("run", help="execute the missing runs")
    _add_experiment(command)
    command.add_argument("--retry", action="store_true", help="repeat failed runs")
    command.set_defaults(run=_command("bench", "run", extras=("bench",)))
    command = verbs.add_parser(
        "tune", help="search for the settings that score best on validation rows"
    )
    _add_experiment(command)
    command.add_argument("--trials", type=_positive, help="per data set and method")
    command.set_defaults(run=_command("bench", "tune", extras=("bench", "search")))
    command = verbs.add_parser("report", help="write tables and pictures of the records")
    command.add_argument("folder", metavar="DIR", help="a folder written by `run`")
    command.add_argument("--output", metavar="PAGE", help="where to write the page")
    command.set_defaults(run=_command("bench", "report", extras=("bench",)))


def _add_experiment(command: argparse.ArgumentParser) -> None:
    """Arguments that select runs and say where they are executed and recorded."""
    command.add_argument("experiment", help="a TOML file")
    command.add_argument("--output", required=True, metavar="DIR", help="folder of the records")
    where = command.add_mutually_exclusive_group()
    where.add_argument("--workers", type=_positive, default=1, help="processes on this machine")
    where.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster, or `local`")
    for option in ("dataset", "method"):
        command.add_argument(
            f"--{option}", action="append", help="only this one; repeat for several"
        )
    for option in ("fold", "seed"):
        command.add_argument(
            f"--{option}", type=_whole_number, action="append", help="only this one"
        )
    command.add_argument("--quiet", action="store_true", help="no progress")


def _add_list(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("list", help="list what has a name")
    names = listing.collections()
    command.add_argument("collection", nargs="?", type=_one_of(*names), help=", ".join(names))
    command.set_defaults(run=listing.run)


def _command(
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


def _one_of(*names: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"expected one of {', '.join(names)}; got {text!r}")
        return text

    return check


def _whole_number(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 0 to 2147483647; got {text!r}"
        )
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1; got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    seconds = _number(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds; got {text!r}")
    return seconds


def _level(text: str) -> float:
    level = _number(text)
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"expected a level between 0 and 1; got {text!r}")
    return level


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number; got {text!r}") from None
