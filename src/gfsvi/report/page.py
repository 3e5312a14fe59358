"""Put evidence, sentences and pictures into one self-contained HTML file."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.parameters import Watch
from gfsvi.pages import template
from gfsvi.report import formatting, prior_words, words
from gfsvi.report.case import prepared_table
from gfsvi.report.evidence import Evidence
from gfsvi.report.gallery import draw_pictures
from gfsvi.report.gathering import gather
from gfsvi.storage.files import write_text
from gfsvi.tables import PreparedTable
from gfsvi.training.settings import Progress

if TYPE_CHECKING:
    import pandas as pd

    from gfsvi.estimators.base import AbstractEstimator


def write_report(
    model: "Fitted | AbstractEstimator",
    frame: "pd.DataFrame",
    target: str | Sequence[str],
    path: str | Path,
    *,
    table: str | None = None,
    command: str | None = None,
    weights: np.ndarray | None = None,
) -> None:
    """Write the page about a fit, or a fitted estimator, and its training table.

    `table` is the name of the table, `command` the command line that reproduces the fit,
    `weights` the weights of all rows of the table, if the fit had any.
    """
    fitted = model if isinstance(model, Fitted) else model.fitted_
    targets = (target,) if isinstance(target, str) else tuple(target)
    rows = prepared_table(fitted, frame, targets)
    write_page(fitted, rows, path, targets=targets, table=table, command=command, weights=weights)


def write_page(
    fitted: Fitted,
    rows: PreparedTable,
    path: str | Path,
    *,
    targets: tuple[str, ...] = (),
    table: str | None = None,
    command: str | None = None,
    weights: np.ndarray | None = None,
    watch: Watch | None = None,
) -> None:
    """Write the page about a fit and its prepared training rows.

    `watch` is called with the stage "page" and how far it is.
    """
    tell = (lambda *_: None) if watch is None else watch
    tell("page", Progress(0, 2, math.nan, None))
    if fitted.preparation is not None:
        targets = fitted.preparation.target
    evidence = gather(fitted, rows, targets=targets, table=table, command=command, weights=weights)
    tell("page", Progress(1, 2, math.nan, None))
    write_text(path, render(evidence))


def render(evidence: Evidence) -> str:
    """Render the page as HTML."""
    page = template.render(
        "gfsvi.report",
        "page.html.j2",
        evidence=evidence,
        words=words,
        prior_words=prior_words,
        formatting=formatting,
        pictures=draw_pictures(evidence),
    )
    return page.strip() + "\n"
