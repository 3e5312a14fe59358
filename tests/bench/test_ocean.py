"""Claims of the paper's table on ocean currents, tested on recorded runs."""

import json
from pathlib import Path

import numpy as np
import pytest

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting.figures import draw_figure

ROOT = Path(__file__).parents[2]
NETWORKS = ("gfsvi", "tfsvi", "vip")


def records(experiment):
    path = ROOT / "results" / experiment / "records.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def scores(metric):
    """The values of a metric over seeds, by method."""
    found = {}
    for record in records("ocean"):
        found.setdefault(record["method"], []).append(record["metrics"][metric])
    return found


@pytest.mark.parametrize("name", ["ocean", "ocean_noise"])
def test_every_run_is_recorded_and_succeeded(name):
    experiment = Experiment.read(ROOT / "experiments" / f"{name}.toml")
    made = records(name)
    assert {record["run"] for record in made} == {run.identity for run in experiment.runs}
    assert all(record["status"] == "ok" for record in made)


def test_the_figure_can_be_reproduced():
    experiment = Experiment.read(ROOT / "experiments" / "ocean.toml")
    drawn = draw_figure(experiment, records("ocean"))
    assert drawn.startswith(b"\x89PNG") and drawn == draw_figure(experiment, records("ocean"))


def test_every_method_has_five_seeds_and_the_same_noise():
    noise = scores("noise")
    assert set(noise) == {*NETWORKS, "exact_gp"}
    assert all(len(values) == 5 for values in noise.values())
    np.testing.assert_allclose([noise[name] for name in NETWORKS], noise["exact_gp"][0], rtol=1e-6)


def test_the_exact_process_scores_as_in_the_paper():
    expected, mse = scores("expected_log_likelihood")["exact_gp"], scores("mse")["exact_gp"]
    assert all(-0.55 < value < -0.47 for value in expected)
    assert all(abs(value - 0.0130) < 0.0003 for value in mse)


def test_the_error_of_gfsvi_is_at_most_the_published_one_with_every_seed():
    assert max(scores("mse")["gfsvi"]) <= 0.021


@pytest.mark.parametrize("other", ["tfsvi", "vip"])
def test_gfsvi_predicts_better_than_priors_over_weights_with_every_seed(other):
    expected, mse = scores("expected_log_likelihood"), scores("mse")
    assert min(expected["gfsvi"]) > max(expected[other])
    assert max(mse["gfsvi"]) < min(mse[other])


def test_learning_the_noise_changes_the_order_by_likelihood_but_not_by_error():
    found = {record["method"]: record["metrics"] for record in records("ocean_noise")}
    noise, expected, density, mse = (
        {name: found[name][metric] for name in NETWORKS}
        for metric in ("noise", "expected_log_likelihood", "log_predictive_density", "mse")
    )
    assert noise["tfsvi"] > found["exact_gp"]["noise"] > noise["gfsvi"] > noise["vip"]
    assert max(expected, key=expected.get) == max(density, key=density.get) == "tfsvi"
    assert min(mse, key=mse.get) == "gfsvi"


def test_gfsvi_is_more_certain_than_the_exact_process():
    std, coverage = scores("mean_std"), scores("coverage")
    assert max(std["gfsvi"]) < 0.5 * std["exact_gp"][0]
    assert max(coverage["gfsvi"]) < coverage["exact_gp"][0]
