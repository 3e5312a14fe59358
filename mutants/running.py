"""Runs the tests that are to notice a fault, each time in a fork of one warm process."""

import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from mutants.sites import ROOT, SOURCE, Mutant, source_with

WARM = (
    *("jax", "jax.numpy", "jax.scipy.linalg", "equinox", "optax", "jaxtyping", "numpy", "scipy"),
    *("scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "pytest"),
    *("sklearn.cluster", "safetensors"),
)
"""Third parties, imported once; nothing of ours, which may have a fault."""
KILLED, SURVIVED, ENDLESS, BROKEN = "killed", "survived", "endless", "broken"


class Outcome(NamedTuple):
    """What became of a fault.

    Args:
        outcome: `killed`, `survived`, or `endless` if tests did not end in time.
        by: The test that failed, or the error that kept tests from being collected.
        seconds: Seconds of the processor.
    """

    outcome: str
    by: str
    seconds: float


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from other code than its file has."""

    def __init__(self, name: str, code: Any, path: str):
        self._name, self._code, self._path = name, code, path

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=self._path)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self._path
        exec(self._code, module.__dict__)


class _Report:
    """A plugin of pytest that remembers the first failure."""

    def __init__(self) -> None:
        self.first = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.first:
            self.first = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.first:
            self.first = f"collecting {report.nodeid}"


def warm() -> None:
    """Import what every fork needs."""
    os.chdir(ROOT)
    for name in WARM:
        importlib.import_module(name)
    warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)


def outcome_of(mutant: Mutant, tests: Sequence[str], most_seconds: float) -> Outcome:
    """Put a fault in place and run the tests until one fails."""
    code = compile(source_with(mutant), str(SOURCE / mutant.module), "exec")
    return outcome_with(mutant.module, code, tests, most_seconds)


def outcome_with(module: str, code: Any, tests: Sequence[str], most_seconds: float) -> Outcome:
    """Run the tests with other code for a module, until one fails."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        _in_the_fork(module, code, tests, most_seconds, write)
    os.close(write)
    with os.fdopen(read) as answers:
        text = answers.read()
    _, status, usage = os.wait4(process, 0)
    seconds = usage.ru_utime + usage.ru_stime
    if text:
        found = Outcome(*json.loads(text), seconds)
        if found.outcome == BROKEN:
            raise RuntimeError(f"expected tests of {module} to run; got {found.by}.")
        return found
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return Outcome(ENDLESS, "", seconds)
    return Outcome(KILLED, "the process crashed", seconds)


def _in_the_fork(
    module: str, code: Any, tests: Sequence[str], most_seconds: float, write: int
) -> None:
    os.setsid()
    limit = int(time.process_time() + most_seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    try:
        answer = _tested(module, code, tests)
    except BaseException as error:
        answer = (BROKEN, f"{type(error).__name__}: {error}"[:300])
    os.write(write, json.dumps(answer).encode())
    os._exit(0)


def _tested(module: str, code: Any, tests: Sequence[str]) -> tuple[str, str]:
    import pytest

    name = "gfsvi." + module.removesuffix(".py").replace("/", ".")
    if code is not None:
        sys.meta_path.insert(0, _Finder(name, code, str(SOURCE / module)))
    report = _Report()
    words = ["-x", "-q", "-m", "not slow", "-p", "no:terminalreporter", "-p", "no:xdist"]
    # Third parties with plugins are imported already; their assertions are not ours.
    words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    status = pytest.main([*words, *tests], plugins=[report])
    if report.first:
        return KILLED, report.first
    return (SURVIVED, "") if status == 0 else (BROKEN, f"pytest ended with {int(status)}")
