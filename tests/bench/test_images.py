"""Tasks on images: classification, unknown images and rotation."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

import numpy as np
import pytest

from gfsvi.bench import images
from gfsvi.bench.data.dataset import DatasetError, Loaded
from gfsvi.bench.data.loading import load as load_real
from gfsvi.bench.experiment import Experiment, Run
from gfsvi.bench.reporting.figures import draw_figure
from gfsvi.bench.running.execution import execute
from gfsvi.bench.tasks.rotation import rotated

TINY = {
    "network": {"channels": [2, 2], "hidden": 4},
    "training": {"num_steps": 3, "batch_size": 10, "evaluate_every": 3, "stretch": 1.0},
    "num_rows": 40,
    "num_test_rows": 20,
}
GFSVI = {
    "method": "gfsvi",
    "covariance": "diagonal",
    "num_samples": 2,
    "num_outputs": 2,
    "warm_up": TINY["training"],
}
SCORES = {"expected_log_likelihood", "log_predictive_density", "accuracy", "ece", "ood_accuracy"}
SCORES |= {"validation_expected_log_likelihood"}


def load(name: str) -> Loaded:
    random = np.random.default_rng(len(name))
    parts = {"test": 30} if name == "kmnist" else {"train": 60, "test": 30}
    arrays = {}
    for part, count in parts.items():
        arrays[f"x_{part}"] = random.integers(0, 256, (count, 12, 12)).astype(np.uint8)
        arrays[f"y_{part}"] = (np.arange(count) % 10).astype(np.uint8)
    return Loaded(arrays, partial="a part" if name == "kmnist" else None)


def run_of(task: str = "classification", seed: int = 0, **settings) -> Run:
    return Run("test", task, "mnist", "some", 0, seed, TINY | settings)


@pytest.fixture(scope="module")
def record():
    return execute(run_of(measurement="kmnist", **GFSVI), load)


def test_one_fit_gives_all_scores(record):
    assert record["status"] == "ok", record
    assert set(record["metrics"]) >= SCORES
    assert record["partial"] == {"kmnist": "a part"}
    series = record["series"]
    assert len(series["angles"]) == len(series["entropy_at_angle"]) == 10
    np.testing.assert_allclose(np.sum(series["share_known"]), 1, rtol=1e-3)
    np.testing.assert_allclose(np.sum(series["share_unknown"]), 1, rtol=1e-3)
    assert record["metrics"]["entropy_upright"] == pytest.approx(
        series["entropy_at_angle"][0], rel=1e-3
    )


@pytest.mark.parametrize("task", ["ood_images", "rotation"])
def test_a_part_of_classification_is_a_task_of_its_own(task, record):
    alone = execute(run_of(task, measurement="kmnist", **GFSVI), load)
    assert alone["status"] == "ok", alone
    assert alone["metrics"] and set(alone["metrics"]) < set(record["metrics"])
    for name, value in alone["metrics"].items():
        assert value == pytest.approx(record["metrics"][name], rel=1e-6), name


@pytest.mark.parametrize("measurement", ["random", "random_pixel"])
def test_the_papers_measurement_points_are_found_by_name(measurement):
    assert execute(run_of(measurement=measurement, **GFSVI), load)["status"] == "ok"


def test_unknown_measurement_points_fail_with_the_known_names():
    record = execute(run_of(measurement="letters", **GFSVI), load)
    assert record["status"] == "failed"
    assert "one of random, random_pixel, kmnist" in record.get("error", "")


def test_the_split_depends_on_the_seed_alone():
    arrays = load("mnist").arrays
    first, again, other = (images.split(arrays, run_of(seed=seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.data.x, again.data.x)
    assert not np.array_equal(first.data.x, other.data.x)
    assert (len(first.data), len(first.validation), len(first.test)) == (36, 4, 20)
    together = np.concatenate([first.data.x, first.validation.x])
    assert len(np.unique(together.reshape(40, -1), axis=0)) == 40
    whole = images.split(arrays, run_of(num_rows=60))
    everything = np.concatenate([whole.data.x, whole.validation.x])
    assert abs(everything.mean()) < 1e-3 and abs(everything.std() - 1) < 1e-3


def test_rotation_by_a_right_angle_permutes_the_pixels():
    x = np.random.default_rng(0).normal(size=(2, 6, 6, 1))
    np.testing.assert_allclose(rotated(x, 90), np.rot90(x, axes=(1, 2)), atol=1e-9)
    np.testing.assert_array_equal(rotated(x, 0), x)
    corners = rotated(x, 45)[:, 0, 0]
    np.testing.assert_allclose(corners, x.min())  # filled with the darkest pixel


def test_a_figure_is_drawn_with_every_data_set(record):
    content = {"task": "classification", "datasets": ["mnist", "fashion_mnist"]}
    experiment = Experiment.parse("test", {**content, "methods": {"map": {}, "mfvi": {}}})
    records = [
        record | {"dataset": dataset, "method": method}
        for dataset in experiment.datasets
        for method in experiment.methods
    ]
    drawn = draw_figure(experiment, records)
    assert drawn is not None and drawn.startswith(b"\x89PNG")
    assert drawn == draw_figure(experiment, records)


@pytest.mark.parametrize("name", ["images", "images_quick"])
def test_experiments_only_use_settings_that_their_methods_have(name):
    experiment = Experiment.read(f"experiments/{name}.toml")
    for label in experiment.methods:
        images.method_of(experiment.settings_of(label, "mnist"), {"kmnist": load("kmnist").arrays})


@pytest.mark.slow
def test_the_quick_profile_on_real_images():
    """Few images suffice to classify most digits and to detect what is not a digit."""
    experiment = Experiment.read("experiments/images_quick.toml")
    try:
        load_real("mnist")
    except DatasetError as error:
        pytest.skip(str(error))
    runs = experiment.only(datasets=("mnist",), methods=("map", "gfsvi_kmnist")).runs
    found = {run.label: execute(run, load_real)["metrics"] for run in runs if run.seed == 0}
    assert found["gfsvi_kmnist"]["accuracy"] > 0.93
    assert found["gfsvi_kmnist"]["ood_accuracy"] > found["map"]["ood_accuracy"] + 0.02
