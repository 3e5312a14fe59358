"""What the benchmark of the command line times, without fitting anything."""

import importlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
RANDOM = np.random.default_rng(0)


@pytest.fixture
def timing(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.command_line")


def test_commands_share_one_cache_and_a_thousand_rows_are_predicted(timing, monkeypatch, tmp_path):
    (tmp_path / "regression").mkdir()
    np.savez(tmp_path / "regression/boston.npz", X=RANDOM.normal(size=(90, 2)), y=np.arange(90.0))
    calls = []

    def call(*words, cache=None):
        calls.append((words[0], cache))
        if words[0] == "predict":
            table = pd.read_csv(words[2])
            assert len(table) == 1000 and set(table["y"]) <= set(np.arange(90.0))
            Path(words[-1]).write_text("mean\n")
        return json.dumps({"mse": 1.0})

    monkeypatch.setattr(timing, "_call", call)
    monkeypatch.setattr(timing, "in_new_process", lambda *_: 0.5)
    found = timing.run("boston", tmp_path, "gfsvi")
    assert [command for command, _ in calls] == ["fit", "fit", "predict", "predict", "evaluate"]
    assert len({cache for _, cache in calls}) == 1 and calls[0][1] is not None
    assert found["rows"] == 30 and found["seconds_second_in_process"] == 0.5
    assert all(found[f"seconds_predict_{which}"] > 0 for which in ("first", "second"))


def test_only_the_second_fit_in_a_process_is_timed(timing, monkeypatch):
    events = []

    class Regressor:
        def __init__(self, method, random_state):
            assert method == "laplace"

        def fit_table(self, frame, target):
            events.append("fit")

    def clock():
        events.append("clock")
        return float(len(events))

    monkeypatch.setattr(timing, "BayesianRegressor", Regressor)
    monkeypatch.setattr(timing.time, "perf_counter", clock)
    seconds = timing.seconds_of_second_fit("boston", pd.DataFrame({"y": [1.0]}), "y", "laplace")
    assert events == ["fit", "clock", "fit", "clock"] and seconds == 2.0


def test_rows_to_predict_are_distinct_if_there_are_enough(timing):
    frame = pd.DataFrame({"a": np.arange(1200)})
    assert timing.rows_to_predict(frame)["a"].nunique() == 1000
