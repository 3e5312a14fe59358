"""`gfsvi predict` and `gfsvi evaluate` for tables that are read piece by piece."""

import argparse
import dataclasses
import itertools
import re
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gfsvi.cli.kept import check_kept, check_not_taken
from gfsvi.cli.tables import decision_of, prepared
from gfsvi.interchange.predictions import prediction_table
from gfsvi.numerics.parallel import Threads, num_threads
from gfsvi.numerics.process import prepare_jax
from gfsvi.numerics.threads import MANY_ROWS
from gfsvi.serving import Predictor, read_predictor
from gfsvi.tables.reading import TableError, load_pandas
from gfsvi.tables.sources import PIECE, Piece, TableFiles
from gfsvi.tables.writing import writing

if TYPE_CHECKING:
    import pandas

    from gfsvi.auto import Fitted

SECONDS = 5.0
"""Between two lines of progress."""


def predict(arguments: argparse.Namespace, source: TableFiles) -> int:
    """Write one row of predictions per row of a table, piece by piece."""
    kept = check_kept(source, arguments.id, arguments.keep)
    predictor: Any = read_predictor(arguments.model)
    predictor = _with_jax(arguments.model) if predictor is None else predictor
    decision = decision_of(predictor, arguments.threshold, arguments.positive)
    told = _Told(source)

    def predicted(pair: "tuple[Piece, pandas.DataFrame | None]") -> "pandas.DataFrame":
        piece, before = pair
        rows, surprises = prepared(predictor, piece.frame())
        told.surprises(surprises)
        table = prediction_table(predictor, _padded(predictor, rows), arguments.level, decision)
        table = table.iloc[: len(rows)]
        if before is None:
            return table
        check_not_taken(before.columns, table.columns)
        return load_pandas().concat([before, table], axis=1)

    pairs = zip(source.pieces(), _kept_columns(source, kept), strict=False)
    with writing(arguments.output) as append:
        for frame in _in_threads(predicted, pairs):
            append(frame)
            told.rows(len(frame))
    told.end()
    print(f"predictions: {arguments.output}")
    return 0


def evaluate(source: TableFiles, fitted: "Fitted", decision: Any) -> dict[str, float]:
    """Scores of all rows whose target is known, read piece by piece."""
    from gfsvi.auto.scores_in_pieces import ScoresInPieces

    preparation = fitted.preparation
    if preparation is None:
        raise TableError("expected a model that knows its target column; got one without.")
    told = _Told(source)
    scores = ScoresInPieces(fitted, decision)

    def known(piece: Piece) -> "pandas.DataFrame":
        frame = piece.frame()
        return frame.loc[preparation.usable_rows(frame)].reset_index(drop=True)

    for piece in source.pieces(preparation.target):
        frame = known(piece)
        scores.look_at(preparation.observations(frame))

    def scored(piece: Piece) -> Any:
        frame = known(piece)
        told.surprises(preparation.surprises(frame))
        return scores.of(frame, preparation.observations(frame))

    for part in _in_threads(scored, source.pieces()):
        scores.add(part)
        told.rows(part.num_rows)
    told.end()
    return scores.whole()


def _in_threads(work: Any, items: Iterable[Any]) -> Iterator[Any]:
    """Results in order, of as many items at a time as there are threads."""
    threads, count = Threads(), num_threads()
    rest = iter(items)
    while some := list(itertools.islice(rest, count)):
        yield from threads.map(work, some)


def _with_jax(model: str) -> "Fitted":
    prepare_jax(MANY_ROWS)
    from gfsvi.auto import Fitted

    return Fitted.load(model)


def _padded(predictor: "Fitted | Predictor", rows: "pandas.DataFrame") -> Any:
    """Numbers in one shape, so that no program is compiled for a short piece."""
    if isinstance(predictor, Predictor) or predictor.preparation is None:
        return rows
    x = predictor.preparation.inputs(rows)
    return np.concatenate([x, np.repeat(x[-1:], max(0, PIECE - len(x)), axis=0)])


def _kept_columns(source: TableFiles, names: list[str]) -> "Iterator[pandas.DataFrame | None]":
    """The columns to copy, as they are written; None for each piece if there are none."""
    if not names:
        return itertools.repeat(None)
    texts = dataclasses.replace(source, as_text=True)
    return (piece.frame().loc[:, names] for piece in texts.pieces(names))


class _Told:
    """Says how far the work is, and what is unusual, each kind once."""

    def __init__(self, source: TableFiles):
        self._began = self._told_at = time.monotonic()
        self._total = source.num_rows
        self._rows = 0
        self._kinds: dict[str, int] = {}

    def rows(self, count: int) -> None:
        self._rows += count
        now = time.monotonic()
        if now - self._told_at >= SECONDS:
            self._told_at = now
            share = "" if not self._total else f"{100 * self._rows / self._total:3.0f}%  "
            print(f"{now - self._began:4.0f} s  {share}{self._rows} rows", file=sys.stderr)

    def surprises(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            kind = re.sub(r"\d+|\(.*?\)", "", sentence)
            self._kinds[kind] = self._kinds.get(kind, 0) + 1
            if self._kinds[kind] == 1:
                print(sentence, file=sys.stderr)

    def end(self) -> None:
        further = sum(count - 1 for count in self._kinds.values())
        if further:
            print(f"{further} more such remarks on other pieces of the table.", file=sys.stderr)
