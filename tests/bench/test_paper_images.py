"""What is claimed of images, by the records of the experiments."""

import json
from pathlib import Path

import numpy as np
import pytest

from gfsvi.bench.experiment import Experiment

ROOT = Path(__file__).parents[2]
DATASETS = ("mnist", "fashion_mnist")
AT_LEAST = {
    "mnist": {"accuracy": 0.990, "expected_log_likelihood": -0.040},
    "fashion_mnist": {"accuracy": 0.908, "expected_log_likelihood": -0.265},
}
MAX_ECE = {"mnist": 0.006, "fashion_mnist": 0.022}
MIN_OOD = {"mnist": 0.97, "fashion_mnist": 0.98}
FULL = ("gfsvi_kmnist", "gfsvi_random", "map", "mfvi", "laplace")


def records(name):
    experiment = Experiment.read(ROOT / "experiments" / f"{name}.toml")
    lines = (ROOT / "results" / name / "records.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert {record["run"] for record in found} <= {run.identity for run in experiment.runs}
    assert all(record["status"] == "ok" for record in found)
    return found


@pytest.fixture(scope="module")
def full():
    """The first seed of every method, by data set and label."""
    found = records("images")
    return {(r["dataset"], r["method"]): r for r in found if r["seed"] == 0}


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_method_of_the_full_profile_was_run(full, dataset):
    assert all((dataset, method) in full for method in FULL)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("method", ["gfsvi_kmnist", "gfsvi_random"])
def test_gfsvi_classifies_as_well_as_the_paper_says(full, dataset, method):
    found = full[dataset, method]["metrics"]
    for metric, least in AT_LEAST[dataset].items():
        assert found[metric] >= least, metric
    assert found["ece"] <= MAX_ECE[dataset]


@pytest.mark.parametrize("dataset", DATASETS)
def test_with_kmnist_gfsvi_knows_what_it_does_not_know(full, dataset):
    ours = full[dataset, "gfsvi_kmnist"]["metrics"]["ood_accuracy"]
    assert ours >= MIN_OOD[dataset]
    baselines = [full[dataset, m]["metrics"]["ood_accuracy"] for m in ("map", "mfvi", "laplace")]
    assert ours > max(baselines)


@pytest.mark.parametrize("dataset", DATASETS)
def test_entropy_grows_with_the_angle_and_begins_below_mfvi(full, dataset):
    series = full[dataset, "gfsvi_kmnist"]["series"]
    angles, entropy = np.array(series["angles"]), np.array(series["entropy_at_angle"])
    up_to_right_angle = entropy[angles <= 80]
    assert np.all(np.diff(up_to_right_angle) > 0)
    assert np.all(entropy[angles > 0] > entropy[0])  # many digits look the same upside down
    assert entropy[0] < full[dataset, "mfvi"]["series"]["entropy_at_angle"][0]


def test_the_quick_profile_ranks_every_method_with_three_seeds():
    found = records("images_quick")
    methods = Experiment.read(ROOT / "experiments/images_quick.toml").methods
    seeds = {m: {r["seed"] for r in found if r["method"] == m} for m in methods}
    assert all(seeds[method] == {0, 1, 2} for method in methods)
    settings = [record["settings"] for record in found]
    steps = {
        s["training"]["num_steps"] + s.get("warm_up", {}).get("num_steps", 0) for s in settings
    }
    assert len(steps) == 1  # the same budget for all
