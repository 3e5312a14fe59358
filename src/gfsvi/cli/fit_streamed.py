"""`gfsvi fit` for a table that is larger than memory."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from gfsvi.cli import processes, watching
from gfsvi.cli.fit import (
    concluded,
    learner_of,
    say_what_was_written,
    task_of_arguments,
    write_report,
)
from gfsvi.cli.progress import Reporter
from gfsvi.numerics.groups import LostProcessError
from gfsvi.numerics.process import prepare_jax
from gfsvi.numerics.progress import STAGES_OF_STREAMS
from gfsvi.numerics.threads import MANY_ROWS
from gfsvi.tables import Preparation
from gfsvi.tables.sources import TableFiles
from gfsvi.tables.targets import check_target_names

if TYPE_CHECKING:
    from gfsvi.auto import Fitted, Learner


def run_streamed(arguments: argparse.Namespace, source: TableFiles) -> int:
    """Fit a table that is read piece by piece."""
    check_target_names(source.column_names, tuple(arguments.target))
    if processes.is_shared(arguments):
        processes.check_arguments(arguments)
        if not watching.is_watched():
            return processes.watch(arguments, sys.argv[1:])
        watching.end_with_watcher()
    try:
        return _run(arguments, source)
    except LostProcessError as error:
        print(f"gfsvi: {error}", file=sys.stderr, flush=True)
        os._exit(watching.LOST)  # the runtime would end this process with a trace


def _run(arguments: argparse.Namespace, source: TableFiles) -> int:
    prepare_jax(MANY_ROWS)
    group = processes.group_of(arguments)
    from gfsvi.auto.streamed import StreamedFit, learn_streamed
    from gfsvi.auto.streamed_numbers import StreamedTable

    table = StreamedTable(
        source, tuple(arguments.target), task_of_arguments(arguments), arguments.weight, group
    )
    found: list[StreamedFit] = []
    quiet = arguments.quiet or group.rank > 0
    has_page = arguments.report is not None
    with Reporter(quiet=quiet, has_page=has_page, stages=STAGES_OF_STREAMS) as reporter:

        def learner_for(preparation: Preparation) -> "Learner":
            learner = learner_of(arguments, preparation.task, reporter)
            for note in preparation.notes:
                reporter.say(note)
            return learner

        def learned() -> "Fitted":
            found.append(learn_streamed(learner_for, table, seed=arguments.seed))
            return found[0].fitted

        if group.rank > 0:
            learned()
            return 0
        parameters = learner_of(arguments, "regression", reporter).parameters
        fitted = concluded(learned, parameters, arguments, reporter)
        write_report(arguments, fitted, found[0].sample, found[0].weights, reporter)
    say_what_was_written(arguments)
    return 0
