"""`gfsvi fit`."""

import argparse
import contextlib
import shlex
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from gfsvi import registry
from gfsvi.cli import processes
from gfsvi.cli.outputs import check_outputs
from gfsvi.cli.progress import Reporter
from gfsvi.cli.sources import streamed_source, table_in_memory
from gfsvi.numerics.groups import LostProcessError
from gfsvi.numerics.process import prepare_jax
from gfsvi.tables import Preparation, PreparedTable, Task
from gfsvi.tables.reading import TableError
from gfsvi.tables.targets import check_target_names
from gfsvi.tables.weights import read_weights

if TYPE_CHECKING:
    import numpy
    import pandas

    from gfsvi.auto import Fitted, Learner, Parameters

_REPEATED = ("task", "method", "kernel", "likelihood", "weight", "hold_out", "guarantee")
_REPEATED += ("prior_mean", "members", "seed", "stream", "in_memory", "processes", "ray")
_REPEATED += ("time_budget", "output", "report")
"""Options that the command line of a repeated fit needs."""
PAGE_SECONDS, FILE_SECONDS = 8.0, 1.0
"""Seconds that it takes to write a page, and the file of a large model."""


def run(arguments: argparse.Namespace) -> int:
    """Fit a table, write the model and, if requested, the page that explains it."""
    outputs = {"--output": arguments.output, "--report": arguments.report}
    check_outputs(outputs, {"the table": arguments.table})
    _check_names(arguments)
    is_shared = processes.is_shared(arguments)
    stream = arguments.stream or is_shared
    source = streamed_source(arguments.table, stream, arguments.in_memory and not is_shared)
    if source is not None:
        from gfsvi.cli.fit_streamed import run_streamed

        return run_streamed(arguments, source)
    file = table_in_memory(arguments.table)
    check_target_names(file.column_names, tuple(arguments.target))
    frame = file.frame()
    weights = None
    if arguments.weight is not None:
        weights, frame = _weights(frame, arguments)
    preparation = Preparation.learn(frame, arguments.target, task_of_arguments(arguments))
    table = preparation.prepare(frame)
    prepare_jax(len(frame))
    with Reporter(quiet=arguments.quiet, has_page=arguments.report is not None) as reporter:
        fitted = _fit(arguments, table, preparation, weights, reporter)
        write_report(arguments, fitted, table, weights, reporter)
    say_what_was_written(arguments)
    return 0


def write_report(
    arguments: argparse.Namespace,
    fitted: "Fitted",
    table: PreparedTable,
    weights: "numpy.ndarray | None",
    reporter: Reporter,
) -> None:
    """Write the page that explains the model, if it is asked for."""
    if arguments.report is None:
        return
    from gfsvi.report import write_page

    name, command = Path(arguments.table).name, _command(arguments)
    options = {"table": name, "command": command, "weights": weights, "watch": reporter.watch}
    write_page(fitted, table, arguments.report, **options)


def say_what_was_written(arguments: argparse.Namespace) -> None:
    """Print the names of the files."""
    print(f"model: {arguments.output}")
    if arguments.report is not None:
        print(f"page: {arguments.report}")


def _fit(
    arguments: argparse.Namespace,
    table: PreparedTable,
    preparation: Preparation,
    weights: "numpy.ndarray | None",
    reporter: Reporter,
) -> "Fitted":
    """Fit, print remarks and diagnostics, and write the model."""
    learner = learner_of(arguments, preparation.task, reporter)
    for note in preparation.notes:
        reporter.say(note)

    def learned() -> "Fitted":
        return learner.learn_table(table, preparation, weights)

    return concluded(learned, learner.parameters, arguments, reporter)


def learner_of(arguments: argparse.Namespace, task: str, reporter: Reporter) -> "Learner":
    """The learner that the arguments describe."""
    from gfsvi.auto import Learner, MethodParameters, Parameters, recipe_for

    recipe = recipe_for(arguments.method)
    is_own = recipe is recipe_for("gfsvi")
    kind = Parameters if is_own else partial(MethodParameters, arguments.method)
    parameters = kind(
        kernel=arguments.kernel,
        likelihood=arguments.likelihood,
        prior_mean=None if arguments.prior_mean == "none" else arguments.prior_mean,
        members=arguments.members,
        held_out=arguments.hold_out,
        conformal="none" if arguments.guarantee is None else "split",
        random_state=arguments.seed,
        time_budget=_time_left(arguments),
        checkpoint=f"{arguments.output}.checkpoint",
        watch=reporter.watch,
    )
    return Learner(cast("Literal['regression', 'classification']", task), parameters, recipe)


def concluded(
    learned: "Callable[[], Fitted]",
    parameters: "Parameters",
    arguments: argparse.Namespace,
    reporter: Reporter,
) -> "Fitted":
    """Fit, print remarks and diagnostics, and write the model."""
    from gfsvi.auto.composition import composition, in_words
    from gfsvi.auto.conformal import guaranteed
    from gfsvi.auto.quality import next_command
    from gfsvi.auto.targets import limits_in_words

    with _nothing_left_if_it_fails(f"{arguments.output}.checkpoint"), _warnings_said(reporter):
        fitted = learned()
        if arguments.guarantee is not None:
            fitted = guaranteed(fitted, arguments.guarantee)
        if (limits := limits_in_words(fitted.posterior.likelihood, fitted.target)) is not None:
            reporter.say(f"{limits} Use `--likelihood normal` to allow all numbers.")
        if (parts := composition(fitted.posterior.function)) is not None:
            reporter.say(
                f"This model predicts with {in_words(parts)}. "
                "Use `--prior-mean none` for a network alone."
            )
        for diagnostic in fitted.diagnostics:
            reporter.say(str(diagnostic))
            if (command := next_command(_command(arguments), diagnostic)) is not None:
                reporter.say(f"  next: {command}")
        fitted.save(arguments.output, parameters)
    return fitted


def task_of_arguments(arguments: argparse.Namespace) -> Task:
    """The task requested or implied by the likelihood; otherwise the table decides."""
    if arguments.task != "auto" or arguments.likelihood == "auto":
        return arguments.task
    from gfsvi.auto.targets import task_of

    return task_of(arguments.likelihood) or "auto"


def _weights(
    frame: "pandas.DataFrame", arguments: argparse.Namespace
) -> "tuple[numpy.ndarray, pandas.DataFrame]":
    """The weights of the rows, and the table without their column."""
    if arguments.weight in arguments.target:
        raise TableError(
            f"--weight expects another column than the target; got {arguments.weight!r} for both. "
            "Name another."
        )
    return read_weights(frame, arguments.weight), frame.drop(columns=arguments.weight)


@contextlib.contextmanager
def _warnings_said(reporter: Reporter) -> Iterator[None]:
    """Say that a fit will take long as a remark, not as a warning with a line of code."""
    from gfsvi.auto.within_budget import LongFitWarning

    shown = warnings.showwarning

    def say(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, LongFitWarning):
            reporter.say(str(message))
        else:
            shown(message, category, *rest)

    with warnings.catch_warnings():
        warnings.simplefilter("always", LongFitWarning)
        warnings.showwarning = say
        yield


@contextlib.contextmanager
def _nothing_left_if_it_fails(checkpoint: str) -> Iterator[None]:
    # A fit that failed or was interrupted would end in the same way; only a killed one resumes.
    try:
        yield
    except LostProcessError:
        raise
    except BaseException:
        Path(checkpoint).unlink(missing_ok=True)
        raise


def _check_names(arguments: argparse.Namespace) -> None:
    """Raise for unknown names before anything is imported to learn with."""
    registry.known_name("method", arguments.method, registry.methods())
    if any(mark in arguments.kernel for mark in "(+*"):
        from gfsvi.auto.kernel_text import kernel_of

        kernel_of(arguments.kernel)
    elif arguments.kernel != "auto":
        registry.known_name("kernel", arguments.kernel, ("auto", *registry.names("kernels")))
    if arguments.likelihood != "auto":
        known = ("auto", *registry.names("likelihoods"))
        registry.known_name("likelihood", arguments.likelihood, known)


def _time_left(arguments: argparse.Namespace) -> float | None:
    """The part of the time budget that is left for the fit."""
    if arguments.time_budget is None:
        return None
    budget = arguments.time_budget
    later = min(FILE_SECONDS, 0.05 * budget) + (0.0 if arguments.report is None else PAGE_SECONDS)
    return max(0.1, budget - (time.monotonic() - arguments.began) - later)


def _command(arguments: argparse.Namespace) -> str:
    """The command line that repeats this fit; what is the default anyway is left out."""
    from gfsvi.cli.commands import parser

    usual = vars(parser().parse_args(["fit", "table", "--target", "y", "--output", "model"]))
    words = ["gfsvi", "fit", arguments.table]
    for name in arguments.target:
        words += ["--target", name]
    for option in _REPEATED:
        value = getattr(arguments, option)
        if value != usual[option]:
            words.append(f"--{option.replace('_', '-')}")
            words += [] if value is True else [str(value)]
    return shlex.join(words)
