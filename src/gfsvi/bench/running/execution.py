"""One run: from its description to its record, whatever happens."""

import dataclasses
import os
import platform
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from gfsvi import registry
from gfsvi.bench.data.dataset import Loaded
from gfsvi.bench.experiment import Run
from gfsvi.bench.running.records import FAILED, OK, Record
from gfsvi.version import __version__

Load = Callable[[str], Loaded]
DIGITS = 4


def execute(run: Run, load: Load) -> Record:
    """Carry out a run; an error is a record too.

    Args:
        run: What to do.
        load: Gives a data set by its name.
    """
    began = time.perf_counter()
    try:
        task = registry.find("tasks", run.task)()
        loaded = {name: load(name) for name in task.datasets(run)}
        found = task(run, {name: found.arrays for name, found in loaded.items()})
        outcome = {
            "status": OK,
            "metrics": _checked({n: v for n, v in found.items() if np.ndim(v) == 0}),
            "series": {n: _rounded(v) for n, v in found.items() if np.ndim(v) > 0},
            "partial": {name: found.partial for name, found in loaded.items() if found.partial},
        }
    except Exception as error:
        # Whatever a method raises is what the experiment found out about it.
        outcome = failure(f"{type(error).__name__}: {error}")
    return described(run) | outcome | {"seconds": time.perf_counter() - began}


def described(run: Run) -> Record:
    """What a record says of its run before anything is known of the outcome."""
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


def failure(error: str) -> Record:
    """What the record of a failed run has beside its description."""
    return {"status": FAILED, "metrics": {}, "error": " ".join(error.split())[:500], "seconds": 0.0}


def environment() -> dict[str, Any]:
    """What a number may depend on besides our own version."""
    return {
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def run_from(content: dict[str, Any]) -> Run:
    """The run that `dataclasses.asdict` wrote down."""
    return Run(**{field.name: content[field.name] for field in dataclasses.fields(Run)})


def _rounded(values: Any) -> list[Any]:
    """Numbers for a picture, which nobody reads to the last digit."""
    values = np.asarray(values, np.float64)
    if not np.all(np.isfinite(values)):
        raise ArithmeticError("expected finite numbers in what a picture shows; got others.")
    digits = np.where(values == 0, 0, np.floor(np.log10(np.abs(values) + (values == 0))))
    scale = 10.0 ** (DIGITS - 1 - digits)
    return (np.round(values * scale) / scale).tolist()


def _checked(metrics: dict[str, float]) -> dict[str, float]:
    metrics = {name: float(value) for name, value in metrics.items()}
    for name, value in metrics.items():
        if not np.isfinite(value):
            raise ArithmeticError(f"expected a finite {name}; got {value}.")
    return metrics
