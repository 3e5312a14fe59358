"""Whatever the table: a model without NaN in its predictions, or one sentence."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from fuzz.engine import ACCEPTED, REFUSED, Kind, check_sentence, command
from gfsvi.auto import Fitted
from gfsvi.auto.problem import Problem, Solution
from gfsvi.auto.solving import Solver
from gfsvi.likelihoods.base import AbstractLabelLikelihood
from gfsvi.predictives import CategoricalPredictive, NormalPredictive

ROWS = 24

numbers = st.floats(allow_nan=True, allow_infinity=True)
calm = st.floats(-100, 100)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
words = st.sampled_from(["red", "green", "", "NA", "1", "2.5", "1e400", "2020-01-01", "=1+1", '"'])
cells = [numbers, calm, st.integers(), st.integers(0, 2), texts, words, st.none(), st.booleans()]
cells += [st.dates().map(str), st.one_of(calm, words), st.just(0.0)]
columns = st.sampled_from(cells).flatmap(lambda cell: st.lists(cell, min_size=ROWS, max_size=ROWS))


@st.composite
def tables(draw: st.DrawFn) -> tuple[pd.DataFrame, str]:
    """A small table of any cells, and its target."""
    names = draw(st.lists(texts.filter(str.strip), min_size=2, max_size=5, unique=True))
    num_rows = draw(st.sampled_from([1, 3, ROWS, ROWS, ROWS, ROWS]))
    frame = pd.DataFrame({name: pd.Series(draw(columns), dtype=object) for name in names})
    return frame[:num_rows], draw(st.sampled_from(names))


class Learned:
    """As a posterior: the mean of the targets, or as many of each class as there were."""

    function = None

    def __init__(self, problem: Problem, of_classes: bool):
        self.y, self.num_outputs = np.asarray(problem.rows.y), problem.num_outputs
        self.likelihood, self.of_classes = problem.likelihood, of_classes

    def predict(self, x: np.ndarray) -> Any:
        """What was learned, at each row."""
        if self.of_classes:
            shares = np.bincount(self.y, minlength=self.num_outputs) / len(self.y)
            return CategoricalPredictive(np.log(np.tile(shares, (1, len(x), 1))))
        mean = np.full(len(x), self.y.mean())
        return NormalPredictive(mean, np.ones_like(mean), np.full_like(mean, self.y.var()))

    def at(self, x: np.ndarray) -> np.ndarray:
        """No novelty."""
        return np.zeros(len(x))


@contextlib.contextmanager
def nothing_compiled() -> Iterator[None]:
    """All but learning itself, and the file between the commands."""
    kept: list[Fitted] = []

    def solve(self: Solver, problem: Problem) -> Solution:
        rows = problem.rows
        if not (np.all(np.isfinite(rows.x)) and np.all(np.isfinite(rows.y))):
            raise AssertionError("numbers that are not finite reach the fit")
        of_classes = isinstance(problem.likelihood, AbstractLabelLikelihood)
        posterior: Any = Learned(problem, of_classes)
        nothing: Any = None
        return Solution(nothing, posterior, nothing, posterior, ())

    def save(fitted: Fitted, path: Any, parameters: object = None) -> None:
        kept.append(fitted)
        Path(path).touch()

    with (
        mock.patch.object(Solver, "solve", solve),
        mock.patch.object(Fitted, "save", save),
        mock.patch.object(Fitted, "load", lambda path: kept[-1]),
        mock.patch("gfsvi.cli.predict.read_predictor", lambda path: None),
        mock.patch("gfsvi.cli.evaluate.opened", lambda path: None),
    ):
        yield


def fitted_or_refused(frame: pd.DataFrame, target: str, *options: str) -> str:
    """Fit, predict and evaluate; what was refused gets one sentence and leaves nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, model, output = folder / "t.csv", folder / "m.gfsvi", folder / "p.csv"
        frame.to_csv(table, index=False)
        status, _, error = command(
            "fit", table, f"--target={target}", "--output", model, "--quiet", *options
        )
        if status:
            _check(status == 2 and error.startswith("gfsvi: "), error)
            check_sentence(error)
            _check([path.name for path in folder.iterdir()] == ["t.csv"], "something is left")
            return REFUSED
        status, _, error = command("predict", model, table, "--output", output)
        _check(status == 0, error)
        predictions = pd.read_csv(output, keep_default_na=False, na_values={"mean": [""]})
        check_predictions(predictions, len(frame))
        status, scores, error = command("evaluate", model, table, "--json")
        _check(status == 0 and "NaN" not in scores, error + scores)
        return ACCEPTED


def check_predictions(predictions: pd.DataFrame, num_rows: int) -> None:
    """Raise unless there are so many rows of finite numbers."""
    values = predictions.drop(columns="predicted", errors="ignore").to_numpy(float)
    _check(len(predictions) == num_rows and bool(np.all(np.isfinite(values))), str(predictions))


def _check(condition: bool, about: str) -> None:
    if not condition:
        raise AssertionError(about)


KIND = Kind("tables", tables(), lambda case: fitted_or_refused(*case), nothing_compiled)
