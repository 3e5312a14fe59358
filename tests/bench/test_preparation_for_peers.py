"""How a table becomes numbers and categories for methods outside of the library."""

import ast
import importlib.util
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gfsvi.bench.outside.peers import PEERS, SCRIPTS


@pytest.fixture(scope="module")
def prepared():
    spec = importlib.util.spec_from_file_location("prepared_for_peers", SCRIPTS / "prepared.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def texts(**columns: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype=object)


TRAIN = texts(
    day=[f"{number:02d}-01-2020" for number in (1, 4, 9, 16, 20, 25, 30, 31)],
    size=["1", "2.5", None, "4", "1", "2.5", "3", "4"],
    town=["Bonn", "Ulm", "Bonn", None, "Bonn", "Ulm", "Ulm", "Bonn"],
    constant=["7"] * 8,
    text=[f"word {number}" for number in range(8)],
    GameID=[f"{number}" for number in range(11, 19)],
    empty=[None] * 8,
)


def test_columns_are_recognised_by_their_cells(prepared):
    columns = prepared.Columns.learn(TRAIN)
    assert columns.dates == {"day": "%d-%m-%Y"}
    assert set(columns.medians) == {"day", "size"} and columns.medians["size"] == 2.5
    assert columns.levels == {"town": ("(missing)", "Bonn", "Ulm")}
    assert columns.gaps == ("size",)


def test_dates_are_days(prepared):
    days = prepared.Columns.learn(TRAIN).numbers(TRAIN)["day"]
    np.testing.assert_array_equal(np.diff(days), [3, 5, 7, 4, 5, 5, 1])


def test_rows_are_imputed_marked_one_hot_and_standardised(prepared):
    columns = prepared.Columns.learn(TRAIN)
    matrix = columns.matrix(TRAIN)
    assert matrix.shape == (8, 6)  # day, size, whether size is missing, three towns
    np.testing.assert_allclose(matrix.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(matrix.std(axis=0), 1)
    raw = columns.spread * matrix + columns.centre
    np.testing.assert_allclose(raw[:4, 1], [1, 2.5, 2.5, 4])
    np.testing.assert_allclose(raw[:4, 2], [0, 0, 1, 0], atol=1e-12)
    towns = [[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(raw[:4, 3:], towns, atol=1e-12)


def test_what_training_rows_did_not_have_is_no_error(prepared):
    columns = prepared.Columns.learn(TRAIN)
    new = TRAIN.iloc[:1].assign(town="Kiel", size="large", day=None)
    raw = columns.spread * columns.matrix(new) + columns.centre
    np.testing.assert_allclose(raw[0, 1:], [2.5, 1, 0, 0, 0], atol=1e-12)
    assert np.all(np.isfinite(raw))


def test_words_for_missing_values_are_missing(prepared, tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1, ?\nNA,x\n"",NaN\n 2 ,y\n')
    table = prepared._texts(tmp_path / "t.csv")
    assert table["a"].isna().tolist() == [False, True, True, False]
    assert table["b"].isna().tolist() == [True, False, True, False]
    assert table["a"][3] == "2"


def test_a_fold_is_read_with_classes_as_numbers(prepared, tmp_path):
    (tmp_path / "train.csv").write_text("x,y\n1,b\n2,a\n3,b\n")
    (tmp_path / "test.csv").write_text("x\n4\n")
    said = {"target": "y", "classes": ["a", "b"], "seed": 5}
    (tmp_path / "fold.json").write_text(json.dumps(said))
    fold = prepared.Fold.read(tmp_path)
    assert fold.y.tolist() == [1, 0, 1] and list(fold.train) == ["x"] and fold.seed == 5


def fold_of(prepared, y, classes):
    return prepared.Fold(TRAIN, TRAIN, np.asarray(y), classes, 0)


def test_held_out_rows_have_every_class_and_the_others_too(prepared):
    y = np.repeat([0, 1, 2], [80, 16, 4])
    fold = fold_of(prepared, y, ("a", "b", "c"))
    kept, held_out = prepared.held_out_rows(fold, 0.2, 1)
    assert sorted([*kept, *held_out]) == list(range(100)) and len(held_out) == 20
    assert np.bincount(y[held_out]).tolist() == [16, 3, 1]


def test_some_rows_of_numbers_are_random(prepared):
    fold = fold_of(prepared, np.arange(50.0), None)
    first, again, other = (prepared.some_rows(fold, 10, seed) for seed in (0, 0, 1))
    assert len(set(first)) == 10
    assert first.tolist() == again.tolist() != other.tolist()
    assert prepared.some_rows(fold, 99, 0).tolist() == list(range(50))


@pytest.mark.parametrize("name", PEERS)
def test_a_script_of_a_peer_imports_nothing_of_the_library(name):
    tree = ast.parse((SCRIPTS / PEERS[name].script).read_text())
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert "prepared" in imported and not any(one.startswith("gfsvi") for one in imported)


def test_a_peer_ends_when_the_process_that_asked_is_gone():
    code = (
        "import time, prepared; prepared.end_with_caller(); print(1, flush=True); time.sleep(600)"
    )
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process: Any = subprocess.Popen([sys.executable, "-c", code], cwd=SCRIPTS, **pipes)
    assert process.stdout.readline()
    process.stdin.close()
    assert process.wait(timeout=300) == 1
    process.stdout.close()
