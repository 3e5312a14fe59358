"""What the paper's tables lack, and how long it takes."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.running.records import Records

METHODS = {"map": {}, "mfvi": {}, "vip": {}}
CONTENT = {"task": "regression", "datasets": ["yacht", "wine"], "folds": 2, "methods": METHODS}
EXPERIMENT = Experiment.parse("small", CONTENT)


@pytest.fixture
def paper(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    return importlib.import_module("benchmarks.paper")


@pytest.fixture
def records(tmp_path):
    """Two runs of `map` on yacht, and one of `mfvi` on wine."""
    found = Records(tmp_path)
    seconds = {("map", "yacht"): [10.0, 30.0], ("mfvi", "wine"): [3600.0]}
    for run in EXPERIMENT.runs:
        if taken := seconds.get((run.label, run.dataset)):
            record: Any = {"run": run.identity, "status": "ok", "metrics": {}, "method": run.label}
            found.append(record | {"dataset": run.dataset, "seconds": taken.pop(0)})
    return found


def test_seconds_are_those_of_the_same_cell_or_the_most_of_the_method(paper, records):
    left = paper.left_of(EXPERIMENT, records)
    assert left.seconds == {"map": [20.0, 20.0], "mfvi": [3600.0] * 3}
    assert left.unknown == {"vip": 4} and left.num_runs == 9 and left.planned == 12


def test_what_is_missing_is_said_by_method_the_quickest_first(paper, records):
    lines = paper.left_of(EXPERIMENT, records).lines()
    assert lines[0] == "small: 3 of 12 runs, at least 3.0 h on one core"
    assert lines[1:] == [
        "  map: 2 runs, 0.0 h",
        "  mfvi: 3 runs, 3.0 h",
        "  vip: 4 runs, never timed",
    ]


def test_the_commands_make_exactly_what_is_missing_and_then_the_report(paper, records):
    left = paper.left_of(EXPERIMENT, records)
    words = [command[3:] for command in paper.commands(paper.experiments()[0], left)]
    assert [command[-1] for command in words[:3]] == ["map", "mfvi", "vip"]
    assert words[-1] == ["bench", "report", "results/regression"]


def test_every_table_and_figure_of_the_paper_is_asked_for(paper):
    names = [path.stem for path in paper.experiments()]
    assert {"regression", "wasserstein", "images", "ocean"} < set(names) and len(names) > 15
    assert all(path.exists() for path in paper.experiments())
