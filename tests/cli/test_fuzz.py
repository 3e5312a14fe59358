"""Whatever the table: a model without NaN in its predictions, or one sentence."""

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gfsvi.auto import Fitted, Learner
from gfsvi.auto.problem import Solution
from gfsvi.cli import main
from gfsvi.predictives import CategoricalPredictive, NormalPredictive

ROWS = 24
FUZZ = {"suppress_health_check": list(HealthCheck), "print_blob": True}

numbers = st.floats(allow_nan=True, allow_infinity=True)
calm = st.floats(-100, 100)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
words = st.sampled_from(["red", "green", "", "NA", "1", "2.5", "1e400", "2020-01-01", "=1+1", '"'])
cells = [numbers, calm, st.integers(), st.integers(0, 2), texts, words, st.none(), st.booleans()]
cells += [st.dates().map(str), st.one_of(calm, words), st.just(0.0)]
columns = st.sampled_from(cells).flatmap(lambda cell: st.lists(cell, min_size=ROWS, max_size=ROWS))


@st.composite
def tables(draw):
    names = draw(st.lists(texts.filter(str.strip), min_size=2, max_size=5, unique=True))
    num_rows = draw(st.sampled_from([1, 3, ROWS, ROWS, ROWS, ROWS]))
    frame = pd.DataFrame({name: pd.Series(draw(columns), dtype=object) for name in names})
    return frame[:num_rows], draw(st.sampled_from(names))


class Learned:
    """As a posterior: the mean of the targets, or as many of each class as there were."""

    def __init__(self, y: np.ndarray, num_outputs: int, of_classes: bool):
        self.y, self.num_outputs, self.of_classes = np.asarray(y), num_outputs, of_classes

    def predict(self, x: np.ndarray):
        if self.of_classes:
            shares = np.bincount(self.y, minlength=self.num_outputs) / len(self.y)
            return CategoricalPredictive(np.log(np.tile(shares, (1, len(x), 1))))
        mean = np.full(len(x), self.y.mean())
        return NormalPredictive(mean, np.ones_like(mean), np.full_like(mean, self.y.var()))

    def at(self, x: np.ndarray) -> np.ndarray:
        return np.zeros(len(x))


@pytest.fixture
def nothing_compiled(monkeypatch):
    """All but learning itself, and the file between the commands."""
    kept = []

    def solve(self, problem):
        rows = problem.rows
        assert np.all(np.isfinite(rows.x)) and np.all(np.isfinite(rows.y))
        posterior = Learned(rows.y, problem.num_outputs, self.task == "classification")
        return Solution(None, posterior, None, posterior, ())

    def save(fitted, path, parameters):
        kept.append(fitted)
        Path(path).touch()

    monkeypatch.setattr(Learner, "solve", solve)
    monkeypatch.setattr(Fitted, "save", save)
    monkeypatch.setattr(Fitted, "load", lambda path: kept[-1])


def fitted_or_refused(frame, target, capsys, *options):
    """Fit, predict and evaluate; what was refused gets one sentence and leaves nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, model, output = folder / "t.csv", folder / "m.gfsvi", folder / "p.csv"
        frame.to_csv(table, index=False)
        capsys.readouterr()
        words = ["fit", table, f"--target={target}", "--output", model, "--quiet", *options]
        status = main([str(word) for word in words])
        error = capsys.readouterr().err
        if status:
            assert status == 2
            assert error.startswith("gfsvi: ") and error.count("\n") == 1, error
            assert [path.name for path in folder.iterdir()] == ["t.csv"]
            return False
        assert main(["predict", str(model), str(table), "--output", str(output)]) == 0
        predictions = pd.read_csv(output, keep_default_na=False, na_values={"mean": [""]})
        check_predictions(predictions, len(frame))
        assert main(["evaluate", str(model), str(table), "--json"]) == 0
        assert "NaN" not in capsys.readouterr().out
        return True


def check_predictions(predictions: pd.DataFrame, num_rows: int) -> None:
    assert len(predictions) == num_rows
    values = predictions.drop(columns="predicted", errors="ignore").to_numpy(float)
    assert np.all(np.isfinite(values))


def test_any_table_is_learned_from_or_refused(nothing_compiled, capsys):
    reached = set()

    @settings(max_examples=80, **FUZZ)
    @given(table=tables())
    def look(table):
        reached.add(fitted_or_refused(*table, capsys))

    look()
    assert reached == {True, False}  # else the tables would be all too strange, or all too tame


@pytest.mark.slow
@settings(max_examples=12, **FUZZ)
@given(table=tables())
def test_any_table_is_really_learned_from_or_refused(capsys, table):
    fitted_or_refused(*table, capsys, "--kernel", "rbf", "--time-budget", "1")


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_units_do_not_matter(capsys, scale):
    random = np.random.default_rng(0)
    x = random.normal(size=ROWS)
    frame = pd.DataFrame({"x": x * scale, "y": (math.pi * x + random.normal(size=ROWS)) * scale})
    assert fitted_or_refused(frame, "y", capsys, "--kernel", "rbf", "--time-budget", "1")


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_units_of_no_known_world_are_refused(nothing_compiled, capsys, scale):
    x = np.random.default_rng(0).normal(size=(ROWS, 2))
    assert not fitted_or_refused(pd.DataFrame(x * scale, columns=["x", "y"]), "y", capsys)
