"""Tries inputs of one kind until one fails, and then smaller ones that fail the same way."""

import contextlib
import dataclasses
import gc
import io
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jax
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.strategies import SearchStrategy

from gfsvi.cli import main

HOME = Path("build/fuzz")
SECONDS_PER_INPUT = 60
MAX_KIBIBYTES = 2 * 1024**2
ROUND = 50
ACCEPTED, REFUSED = "accepted", "refused"


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of input.

    Args:
        name: What it is called on the command line.
        cases: Makes inputs.
        check: Tries one and says what became of it; raises if that is not as it should be.
        around: What has to be set up before, and undone afterwards.
    """

    name: str
    cases: SearchStrategy[Any]
    check: Callable[[Any], str]
    around: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext


def tried(kind: Kind, *, num_inputs: int, seed: int) -> Counter[str]:
    """What became of so many inputs; raises for the smallest one found that fails."""
    outcomes: Counter[str] = Counter()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=num_inputs,
        deadline=None,
        derandomize=False,
        database=DirectoryBasedExampleDatabase(HOME / "examples"),
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=True,
    )
    @hypothesis.given(case=kind.cases)
    def look(case: Any) -> None:
        with _within_limits():
            outcomes[kind.check(case)] += 1

    look()
    return outcomes


def tried_for(kind: Kind, *, seconds: float, seed: int) -> Counter[str]:
    """What became of as many inputs as the time allows."""
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + seconds
    with kind.around():
        while time.monotonic() < end:
            outcomes += tried(kind, num_inputs=ROUND, seed=seed)
            seed += 1
            jax.clear_caches()
            gc.collect()
    return outcomes


def command(*words: object) -> tuple[int, str, str]:
    """The exit code of a command, and what it printed where."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = main([str(word) for word in words])
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), error.getvalue()


def check_sentence(text: str) -> None:
    """Raise unless this is one line, not too long."""
    lines = text.rstrip("\n").splitlines()
    if len(lines) != 1 or len(lines[0]) > 2000:
        raise AssertionError(f"expected one sentence; got {text[:2000]!r}")


@contextlib.contextmanager
def _within_limits() -> Iterator[None]:
    """Raise if what is done here takes a minute, or more memory than any input should."""

    def too_long(number: int, frame: object) -> None:
        raise AssertionError(f"took more than {SECONDS_PER_INPUT} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS_PER_INPUT)
    try:
        yield
    finally:
        signal.alarm(0)
    peak = _peak_kibibytes()
    if peak > MAX_KIBIBYTES:
        raise AssertionError(f"took {peak / 1024**2:.1f} GiB of memory")


def _peak_kibibytes() -> int:
    """The most memory that this process has had; a started one counts its parent's otherwise."""
    status = Path("/proc/self/status")
    if not status.exists():  # on other systems than Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0])
