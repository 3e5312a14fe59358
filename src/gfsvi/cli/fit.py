"""`gfsvi fit`."""

import argparse
import contextlib
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gfsvi import registry
from gfsvi.cli.outputs import check_outputs
from gfsvi.cli.progress import Reporter
from gfsvi.numerics.process import prepare_jax
from gfsvi.tables import Preparation
from gfsvi.tables.reading import read_table

if TYPE_CHECKING:
    import pandas

PAGE_SECONDS = 8.0
"""What a page takes to write, with its pictures."""


def run(arguments: argparse.Namespace) -> int:
    """Learn from a table, write the model and, if wanted, the page that explains it."""
    outputs = {"--output": arguments.output, "--report": arguments.report}
    check_outputs(outputs, {"the table": arguments.table})
    _check_names(arguments)
    frame = read_table(arguments.table)
    target = arguments.target[0] if len(arguments.target) == 1 else arguments.target
    preparation = Preparation.learn(frame, target, arguments.task)
    prepare_jax(len(frame))
    from gfsvi.auto import Learner
    from gfsvi.auto.files import save

    with Reporter(quiet=arguments.quiet) as reporter:
        for note in preparation.notes:
            reporter.say(note)
        kind, params = _estimator(arguments, preparation, reporter)
        with _nothing_left_if_it_fails(params["checkpoint"]):
            learned = Learner(preparation.task, **params).learn_table(frame, preparation)
            for diagnostic in learned["diagnostics_"]:
                reporter.say(str(diagnostic))
            save(arguments.output, kind, params, learned)
        if arguments.report is not None:
            _write_report(arguments, frame, target)
    print(f"model: {arguments.output}")
    if arguments.report is not None:
        print(f"page: {arguments.report}")
    return 0


@contextlib.contextmanager
def _nothing_left_if_it_fails(checkpoint: str) -> Iterator[None]:
    # What failed or was given up would go on to the same end; only what was killed goes on.
    try:
        yield
    except BaseException:
        Path(checkpoint).unlink(missing_ok=True)
        raise


def _check_names(arguments: argparse.Namespace) -> None:
    if registry.find("methods", arguments.method).__name__ == "EmpiricalBayes":
        raise ValueError(
            "--method expects a method that learns a posterior; got empirical_bayes, which chooses "
            "priors and is used anyway. `gfsvi list methods` names the others."
        )
    if arguments.kernel != "auto":
        registry.find("kernels", arguments.kernel)


def _estimator(
    arguments: argparse.Namespace, preparation: Preparation, reporter: Reporter
) -> tuple[str, dict[str, Any]]:
    """The estimator that the model file will hold: its name and parameters."""
    params: dict[str, Any] = {
        "kernel": arguments.kernel,
        "random_state": arguments.seed,
        "time_budget": _time_left(arguments),
        "checkpoint": f"{arguments.output}.checkpoint",
        "watch": reporter.watch,
    }
    task = "Regressor" if preparation.task == "regression" else "Classifier"
    if registry.find("methods", arguments.method).__name__ == "GFSVI":
        return f"GFSVI{task}", params
    return f"Bayesian{task}", {"method": arguments.method, **params}


def _time_left(arguments: argparse.Namespace) -> float | None:
    """What the budget leaves for the fit, when the program began some seconds ago."""
    if arguments.time_budget is None:
        return None
    page = 0.0 if arguments.report is None else PAGE_SECONDS
    return max(0.1, arguments.time_budget - (time.monotonic() - arguments.began) - page)


def _write_report(
    arguments: argparse.Namespace, frame: "pandas.DataFrame", target: str | list[str]
) -> None:
    from gfsvi.estimators import load
    from gfsvi.report import write_report

    write_report(
        load(arguments.output),
        frame,
        target,
        arguments.report,
        table=Path(arguments.table).name,
        command=_command(arguments),
    )


def _command(arguments: argparse.Namespace) -> str:
    """The command line that does the same again."""
    words = ["gfsvi", "fit", arguments.table]
    for name in arguments.target:
        words += ["--target", name]
    for option in ("task", "method", "kernel", "seed", "time_budget", "output", "report"):
        value = getattr(arguments, option)
        if value is not None:
            words += [f"--{option.replace('_', '-')}", str(value)]
    return shlex.join(words)
