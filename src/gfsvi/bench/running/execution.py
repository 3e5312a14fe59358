"""Executes a run and turns its outcome, or its error, into a record."""

import dataclasses
import os
import platform
import time
from collections.abc import Callable

import jax
import numpy as np

from gfsvi import registry
from gfsvi.bench.data.dataset import Loaded
from gfsvi.bench.experiment import Run, Settings
from gfsvi.bench.running import provenance
from gfsvi.bench.running.records import FAILED, OK, Description, Environment, Outcome, Record
from gfsvi.version import __version__

Load = Callable[[str], Loaded]
DIGITS = 4
"""Significant digits of the numbers kept for figures."""


def execute(run: Run, load: Load) -> Record:
    """Execute a run; an error is recorded as its outcome.

    Args:
        run: The run to execute.
        load: Loads a data set by name.
    """
    began = time.perf_counter()
    try:
        task = registry.find("tasks", run.task)()
        loaded = {name: load(name) for name in task.datasets(run)}
        found = task(run, {name: found.arrays for name, found in loaded.items()})
        outcome: Outcome = {
            "status": OK,
            "metrics": _checked({n: float(v) for n, v in found.items() if np.ndim(v) == 0}),
            "series": {n: _rounded(v) for n, v in found.items() if np.ndim(v) > 0},
            "partial": {name: found.partial for name, found in loaded.items() if found.partial},
        }
    except Exception as error:
        # Every error is a result of the experiment.
        outcome = _failure(f"{type(error).__name__}: {error}")
    return {**_described(run), **outcome, "seconds": time.perf_counter() - began}


def failed_record(run: Run, error: str) -> Record:
    """The record of a run that produced no result."""
    return {**_described(run), **_failure(error), "seconds": 0.0}


def _described(run: Run) -> Description:
    return {
        "run": run.identity,
        "experiment": run.experiment,
        "task": run.task,
        "dataset": run.dataset,
        "method": run.label,
        "fold": run.fold,
        "seed": run.seed,
        "settings": run.settings,
        "version": __version__,
        "environment": environment(),
    }


def _failure(error: str) -> Outcome:
    return {"status": FAILED, "metrics": {}, "error": " ".join(error.split())[:500]}


def environment() -> Environment:
    """Versions, machine and commit of this process."""
    return {
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "processor": provenance.processor(),
        "commit": provenance.commit(),
        "lock": provenance.lock(),
    }


def run_from(content: Settings) -> Run:
    """Rebuild a run from its fields; the inverse of `dataclasses.asdict`."""
    fields = {field.name: content[field.name] for field in dataclasses.fields(Run)}
    return Run(**fields | {"without": tuple(fields["without"])})


def _rounded(values: float | np.ndarray) -> list[float] | list[list[float]]:
    """Numbers for a figure, rounded to a few significant digits to keep records small."""
    values = np.asarray(values, np.float64)
    if not np.all(np.isfinite(values)):
        raise ArithmeticError("expected finite numbers in a series; got NaN or infinity.")
    digits = np.where(values == 0, 0, np.floor(np.log10(np.abs(values) + (values == 0))))
    scale = 10.0 ** (DIGITS - 1 - digits)
    return (np.round(values * scale) / scale).tolist()


def _checked(metrics: dict[str, float]) -> dict[str, float]:
    for name, value in metrics.items():
        if not np.isfinite(value):
            raise ArithmeticError(f"expected a finite {name}; got {value}.")
    return metrics
