"""Tables of one's own as data sets, and experiments that load only what their scores need."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gfsvi.bench.data.dataset import DatasetError, Loaded
from gfsvi.bench.data.loading import load
from gfsvi.bench.data.own_tables import OwnTable
from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.bench.running.execution import execute

PAGE = Path(__file__).parents[2] / "docs/do/experiments.md"
QUICK = {"training": {"num_steps": 3}, "network": {"hidden": [5]}}


def shown(**changes) -> Experiment:
    """The experiment of the page, with changes."""
    (block,) = re.findall(r"```toml\n(title = .*?)```", PAGE.read_text(), re.DOTALL)
    return Experiment.parse("shown", tomllib.loads(block) | changes)


@pytest.fixture
def houses(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(40, 200, 40), "town": ["Bonn", "Celle"] * 20})
    frame["price"] = 3 * frame["size"] + 60 * (frame["town"] == "Bonn")
    frame.to_csv(tmp_path / "houses.csv", index=False)
    return f"{tmp_path}/houses.csv:price"


def test_the_experiment_of_the_page_runs_on_generated_data_without_any_file():
    methods = {
        "map": QUICK,
        "gfsvi_diagonal": {"method": "gfsvi", "covariance": "diagonal"} | QUICK,
    }
    experiment = shown(methods=methods).only(datasets=("sine",), folds=(0,))

    def generated_only(name: str) -> Loaded:
        assert name == "sine"
        return load(name)

    for run in experiment.runs:
        record = execute(run, generated_only)
        assert record["status"] == "ok", record
        assert {"expected_log_likelihood", "mse"} <= set(record["metrics"])
        assert "ood_accuracy" not in record["metrics"]


def test_another_table_is_loaded_only_for_the_score_that_needs_it():
    assert shown().runs[0].without == ("song",)
    needing = shown(report={"metrics": ["ood_accuracy"]}).runs[0]
    assert needing.without == ()
    assert needing.identity != shown().runs[0].identity


def test_a_table_of_ones_own_is_a_data_set_in_one_line(houses):
    loaded = load(houses)
    assert loaded.arrays["X"].shape == (40, 3) and loaded.arrays["y"].shape == (40,)
    experiment = shown(datasets=[houses], methods={"map": QUICK}, folds=1)
    (run,) = experiment.runs
    record = execute(run, load)
    assert record["status"] == "ok" and record["dataset"] == houses


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("houses.csv:price", OwnTable("houses.csv", "price")),
        ("a:b/c.parquet:x:y", OwnTable("a:b/c.parquet", "x:y")),
        ("C:/data.csv.gz:price", OwnTable("C:/data.csv.gz", "price")),
        ("houses.csv", None),
        ("boston", None),
        ("houses.csv:", None),
    ],
)
def test_names_of_tables_are_told_from_names_of_data_sets(name, expected):
    assert OwnTable.named(name) == expected


def test_a_file_without_a_column_is_answered_with_the_form():
    with pytest.raises(ExperimentError, match="the column to predict, too: 'houses.csv:COLUMN'"):
        shown(datasets=["houses.csv"])
    with pytest.raises(ExperimentError, match="expects datasets to be a list of names; got a list"):
        shown(datasets=[{"path": "houses.csv"}])


def test_a_misspelt_column_is_found_before_anything_runs(houses):
    with pytest.raises(DatasetError, match="target column `prise`.*did you mean `price`"):
        OwnTable(houses.removesuffix(":price"), "prise").check()
    with pytest.raises(DatasetError, match="got no file at nowhere.csv"):
        OwnTable("nowhere.csv", "price").check()
