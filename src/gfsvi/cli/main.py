"""Parse the command line, run the command, and report errors in one sentence."""

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import NoReturn

from gfsvi.cli.commands import parser
from gfsvi.cli.parsing import BAD_INPUT
from gfsvi.numerics.extras import MissingExtraError

INTERRUPTED, TERMINATED = 130, 143
_SENTENCES = (ValueError, TypeError, ArithmeticError, OSError, MemoryError, RuntimeError)
"""Errors whose message is meant for users."""


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
        left = getattr(parsed, "if_interrupted", "nothing was written.")
        print(f"gfsvi: interrupted; {left}", file=sys.stderr)
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
