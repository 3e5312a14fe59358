"""Every run becomes a record, even if it fails."""

import json

import numpy as np
import pytest

from gfsvi.bench.data.dataset import Loaded
from gfsvi.bench.data.folds import fold_of, standardized_like
from gfsvi.bench.experiment import Run
from gfsvi.bench.running.execution import execute, run_from
from gfsvi.bench.tasks.regression import outside_rows

KEYS = {"experiment", "dataset", "method", "fold", "seed", "status", "seconds", "metrics"}


def load(name: str) -> Loaded:
    random = np.random.default_rng(0)
    if name == "song":
        return Loaded({"X": random.normal(size=(50, 9))}, partial="50 rows")
    x = random.normal(size=(60, 3))
    x[:, 2] = 0.998  # the computed mean of this column differs by rounding
    return Loaded({"X": x, "y": np.sin(x[:, 0]) + 0.1 * random.normal(size=60)})


def run_of(method: str, task: str = "regression", **settings) -> Run:
    quick = {"training": {"num_steps": 3}, "network": {"hidden": [5]}} | settings
    return Run("test", task, "boston", method, 1, 0, {"method": method} | quick)


def test_a_run_becomes_a_record_of_metrics():
    record = execute(run_of("map"), load)
    assert record["status"] == "ok" and record["method"] == "map" and record["fold"] == 1
    assert (
        KEYS | {"settings", "version"} <= set(record) and json.loads(json.dumps(record)) == record
    )
    assert {"expected_log_likelihood", "mse", "ood_accuracy"} <= set(record["metrics"])
    assert record["partial"] == {"song": "50 rows"} and record["seconds"] > 0


def test_the_same_run_gives_the_same_numbers():
    numbers = [execute(run_of("map"), load)["metrics"]["mse"] for _ in range(2)]
    assert numbers[0] == numbers[1]


def test_an_error_becomes_a_failed_record():
    record = execute(run_of("map", wheels=4), load)
    assert record["status"] == "failed" and record["metrics"] == {}
    assert "MAP expects the settings" in record["error"]


def test_a_missing_data_set_becomes_the_error_of_the_record():
    def nowhere(name):
        raise ValueError(f"expected the data set {name}")

    assert "expected the data set boston" in execute(run_of("map"), nowhere)["error"]


def test_the_exact_process_has_distance_zero_from_itself():
    settings = {"method": "exact_gp", "kernel": "rbf"}
    run = Run("test", "wasserstein", "boston", "exact_gp", 0, 0, settings)
    record = execute(run, load)
    assert record["metrics"]["wasserstein2"] == pytest.approx(0, abs=1e-12)
    assert record["metrics"]["exact_std"] > 0


def test_a_run_survives_serialisation():
    run = run_of("map")
    assert run_from(json.loads(json.dumps(vars(run)))) == run


def test_folds_are_disjoint_and_standardised_by_training_rows():
    x = np.arange(100.0)[:, None]
    tests = []
    for fold in range(5):
        data, validation, test = fold_of(x, x[:, 0], fold)
        assert (len(data), len(validation), len(test)) == (72, 8, 20)
        np.testing.assert_allclose([data.x.mean(), data.x.std()], [0, 1], atol=1e-12)
        everything = np.concatenate([data.x, validation.x, test.x])[:, 0]
        assert len(np.unique(everything.round(9))) == 100
        order = np.argsort(np.argsort(everything))
        tests.append(order[80:])
    assert sorted(np.concatenate(tests)) == list(range(100))


def test_a_column_that_is_constant_but_for_rounding_becomes_zero():
    column = np.full((30, 1), 0.998)
    np.testing.assert_allclose(standardized_like(column, column), 0, atol=1e-12)


def test_outside_rows_are_standardised_on_their_own():
    rows = 5 + 3 * np.random.default_rng(0).normal(size=(1000, 9))
    outside = outside_rows(rows, (200, 4), seed=0)
    assert outside.shape == (200, 4)
    np.testing.assert_allclose(outside.mean(), 0, atol=0.1)
    np.testing.assert_allclose(outside.std(), 1, atol=0.1)


def test_further_columns_serve_as_missing_outside_rows():
    rows = np.random.default_rng(0).normal(size=(50, 9))
    assert outside_rows(rows, (90, 4), seed=0).shape == (90, 4)
    assert outside_rows(rows, (500, 4), seed=0).shape == (100, 4)
