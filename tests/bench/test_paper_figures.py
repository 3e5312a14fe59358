"""Claims of the paper's figures, tested on the records that our figures are drawn from."""

import dataclasses
import json
from pathlib import Path

import pytest

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting.figures import draw_figure
from gfsvi.bench.reporting.figures.drawing import DRAWERS

ROOT = Path(__file__).parents[2]
FIGURES = sorted(path.stem for path in (ROOT / "experiments").glob("figure_*.toml"))
NETWORKS = ("gfsvi", "fvi", "tfsvi", "mfvi", "vip", "laplace", "gwi")


def records(figure):
    path = ROOT / "results" / figure / "records.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def metric(figure, name):
    """A metric of a figure's runs, by their labels."""
    found = records(f"figure_{figure}")
    assert all(record["status"] == "ok" for record in found)
    return {record["method"]: record["metrics"][name] for record in found}


@pytest.mark.parametrize("figure", FIGURES)
def test_every_run_of_a_figure_is_recorded_and_can_be_drawn_reproducibly(figure):
    experiment = Experiment.read(ROOT / "experiments" / f"{figure}.toml")
    made = records(figure)
    assert {record["run"] for record in made} == {run.identity for run in experiment.runs}
    assert experiment.task in DRAWERS and len(experiment.report["text"]) > 100
    drawn = draw_figure(experiment, made)
    assert drawn.startswith(b"\x89PNG") and drawn == draw_figure(experiment, made)
    assert (ROOT / "results" / figure / "figure.png").stat().st_size < 400_000


def test_without_records_there_is_no_figure():
    experiment = Experiment.read(ROOT / "experiments" / f"{FIGURES[0]}.toml")
    assert draw_figure(experiment, []) is None
    assert draw_figure(dataclasses.replace(experiment, task="regression"), []) is None


@pytest.mark.parametrize("prior", ["rbf", "matern12"])
def test_gfsvi_is_the_network_closest_to_the_exact_posterior(prior):
    distance = metric("methods", "wasserstein2")
    others = [distance[f"{name}_{prior}"] for name in NETWORKS[1:]]
    assert distance[f"gfsvi_{prior}"] < 0.5 * min(others)


def test_priors_over_weights_are_overconfident_in_the_gap():
    std = metric("methods", "std_in_gap")
    for name in ("mfvi", "laplace", "tfsvi"):
        assert std[f"{name}_rbf"] < 0.6 * std["exact_gp_rbf"]


def test_draws_are_rougher_the_less_smooth_the_prior():
    roughness = metric("smoothness", "roughness")
    order = [roughness[name] for name in ("matern12", "matern32", "matern52")]
    assert order == sorted(order, reverse=True) and roughness["rbf"] < roughness["matern32"]


def test_a_periodic_prior_is_most_certain_across_the_gap():
    std = metric("smoothness", "std_in_gap")
    assert std["periodic"] < 0.5 * min(std[name] for name in std if name != "periodic")


def test_uncertainty_in_the_gap_grows_as_the_length_scale_shrinks():
    std = metric("lengthscales", "std_in_gap")
    order = [std[name] for name in ("l100", "l050", "l025", "l010")]
    assert order == sorted(order)


def test_a_rough_prior_needs_more_measurement_points():
    roughness = metric("points", "roughness")
    assert roughness["matern12_10"] < 0.6 * roughness["matern12_100"]
    distance = metric("points", "wasserstein2")
    assert distance["rbf_25"] < 0.1 * distance["rbf_10"]


def test_with_few_points_gfsvi_is_closer_than_fvi():
    distance = metric("few_points", "wasserstein2")
    assert distance["gfsvi_10"] < distance["fvi_10"]


@pytest.mark.parametrize("prior", ["rbf", "matern12"])
def test_a_small_tanh_network_adopts_a_prior_better_than_a_relu_network(prior):
    distance = metric("biases", "wasserstein2")
    assert distance[f"{prior}_tanh"] < distance[f"{prior}_relu"]


def test_a_large_gamma_weakens_the_prior():
    distance = metric("gamma", "wasserstein2")
    order = [distance[name] for name in ("g4", "g2", "g1", "g0")]
    assert order == sorted(order)


def test_noise_is_not_fitted():
    distance = metric("noise", "wasserstein2")
    assert distance["gfsvi_noisy"] < 0.1 and distance["gfsvi_quiet"] < 0.1


def test_under_a_periodic_prior_the_mean_of_gwi_does_not_repeat():
    distance = metric("gwi_periodic", "wasserstein2")
    assert distance["gfsvi"] < 0.2 * distance["gwi"]


def test_two_moons_are_fitted_and_predictions_far_away_are_uncertain():
    accuracy, far = metric("two_moons", "accuracy"), metric("two_moons", "entropy_far_away")
    assert accuracy["gfsvi_rbf"] == accuracy["gfsvi_matern12"] == 1
    for name in ("tfsvi_rbf", "mfvi_rbf", "vip_rbf", "laplace_rbf", "gwi_rbf"):
        assert far["gfsvi_rbf"] > far[name]


def test_all_methods_fit_two_moons_except_mean_field_over_weights():
    accuracy = metric("two_moons", "accuracy")
    assert {name for name in accuracy if accuracy[name] < 1} == {"mfvi_rbf"}
    assert {"tfsvi_rbf", "gwi_rbf"} < set(accuracy)


def test_eigenvalues_of_a_smooth_kernel_decay_faster_and_slower_in_many_dimensions():
    count = metric("eigenvalues", "num_for_99_percent")
    assert count["rbf_1_10"] < 0.2 * count["matern12_1_10"]
    assert count["rbf_100_10"] > count["rbf_1_10"]


def test_the_posterior_adopts_the_rank_of_its_prior():
    rank = metric("rank", "rank")
    assert rank["tanh_rbf"] < rank["tanh_matern12"]


def test_the_divergence_falls_with_gamma_and_needs_more_points_under_a_rough_prior():
    assert all(ratio > 1 for ratio in metric("divergence", "largest_over_smallest_gamma").values())
    share = metric("divergence", "share_seen_at_50")
    assert share["rbf"] > share["matern12"]


def test_on_boston_gfsvi_takes_more_steps_than_mfvi_contrary_to_the_paper():
    steps = {
        (record["method"], record["fold"]): record["metrics"]["steps_until_close"]
        for record in records("figure_convergence")
    }
    assert all(steps["gfsvi", fold] > steps["mfvi", fold] for fold in (0, 1))


def test_on_boston_gfsvi_and_tfsvi_end_far_below_their_best_without_early_stopping():
    for record in records("figure_convergence"):
        scores = record["series"]["scores"]
        assert (max(scores) - scores[-1] > 10) == (record["method"] != "mfvi")
