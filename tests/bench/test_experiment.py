"""Experiments define runs, and a run is identified by everything that determines its outcome."""

import dataclasses
import tomllib
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from gfsvi import registry
from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.covariances import ClosedForm, Diagonal, Kronecker
from gfsvi.data import Data
from gfsvi.kernels import Linear, Matern52
from gfsvi.kernels.lengthscales import with_own_lengthscales
from gfsvi.methods import GFSVI
from gfsvi.points import BatchRows, Mixture, UniformBox

CONTENT = {
    "task": "regression",
    "datasets": ["boston", "yacht"],
    "folds": 3,
    "settings": {"kernel": "rbf"},
    "methods": {"gfsvi": {}, "gfsvi_diagonal": {"method": "gfsvi", "covariance": "diagonal"}},
}


def parsed(**changes) -> Experiment:
    return Experiment.parse("tables", CONTENT | changes)


def test_runs_are_data_sets_times_methods_times_folds():
    runs = parsed().runs
    assert len(runs) == 12 and len({run.identity for run in runs}) == 12
    assert [run.fold for run in runs] == [0] * 4 + [1] * 4 + [2] * 4


def test_settings_of_a_method_override_those_of_the_experiment():
    assert parsed().settings_of("gfsvi", "yacht") == {"kernel": "rbf", "method": "gfsvi"}
    own = {"kernel": "rbf", "method": "gfsvi", "covariance": "diagonal"}
    assert parsed().settings_of("gfsvi_diagonal", "yacht") == own


def test_a_run_is_identified_by_exactly_what_determines_its_outcome():
    run = parsed().runs[0]
    assert dataclasses.replace(run, experiment="another").identity == run.identity
    reordered = dict(reversed(run.settings.items()))
    assert dataclasses.replace(run, settings=reordered).identity == run.identity
    for change in ({"fold": 9}, {"seed": 1}, {"dataset": "wine"}, {"settings": {"method": "map"}}):
        assert dataclasses.replace(run, **change).identity != run.identity


def test_a_part_of_an_experiment_has_the_same_runs():
    part = parsed().only(datasets=("yacht",), methods=("gfsvi",), folds=(1,))
    (run,) = part.runs
    assert run.identity in {other.identity for other in parsed().runs}


@pytest.mark.parametrize(
    ("changes", "about"),
    [
        ({"colour": "red"}, "got 'colour'"),
        ({"task": "cooking"}, "expected a task named"),
        ({"datasets": ["bostin"]}, "Did you mean 'boston'"),
        ({"methods": {}}, "expects methods; got {}"),
        ({"methods": {"magic": {}}}, "expected a method named"),
    ],
)
def test_an_invalid_experiment_raises(changes, about):
    with pytest.raises(ValueError, match=about):
        parsed(**changes)


def test_an_unknown_part_raises():
    with pytest.raises(ExperimentError, match="expected methods of this experiment"):
        parsed().only(methods=("mfvi",))


def test_a_file_that_is_not_an_experiment_raises(tmp_path):
    with pytest.raises(ExperimentError, match="expected an experiment at"):
        Experiment.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("task = ")
    with pytest.raises(ExperimentError, match="expected TOML in"):
        Experiment.read(tmp_path / "bad.toml")


@pytest.mark.parametrize("path", sorted(Path("experiments").glob("*.toml")), ids=lambda p: p.stem)
def test_every_method_of_our_experiments_can_be_built(path):
    experiment = Experiment.read(path)
    assert experiment.runs
    task = registry.find("tasks", experiment.task)
    for label in experiment.methods:
        settings = experiment.settings_of(label, experiment.datasets[0])
        if settings["method"] not in task.peers:
            build_method(settings, of_task=task.settings)


def test_names_and_numbers_become_objects():
    method = build_method(
        {
            "method": "gfsvi",
            "covariance": "diagonal",
            "network": {"hidden": [30], "activation": "relu"},
            "points": [
                {"name": "batch_rows", "num_points": 5},
                {"name": "uniform_box", "num_points": 7},
            ],
            "training": {"num_steps": 3},
            "kernel": "rbf",
        }
    )
    assert isinstance(method, GFSVI) and isinstance(method.covariance, Diagonal)
    assert method.network.hidden == (30,) and method.training.num_steps == 3
    assert method.training.optimizer == GFSVI().training.optimizer
    assert method.points == Mixture((BatchRows(5), UniformBox(7)))
    assert isinstance(build_method({"method": "gfsvi"}).covariance, ClosedForm)
    assert isinstance(build_method({"method": "gfsvi_trained"}).covariance, Kronecker)


def test_a_stage_can_be_left_out_and_parts_of_the_model_can_be_slow():
    slow = {"num_steps": 3, "slow": "function.params"}
    method = build_method({"method": "gfsvi_trained", "warm_up": False, "training": slow})
    assert method.mean is None and method.training.num_steps == 3
    model = SimpleNamespace(function=SimpleNamespace(params="weights"), likelihood=None)
    assert method.training.optimizer.slow(model) == "weights"


def test_a_setting_that_a_method_does_not_have_raises():
    with pytest.raises(ExperimentError, match="MFVI expects the settings .*; got 'gamma'"):
        build_method({"method": "mfvi", "gamma": 1e-3})


def test_a_kernel_starts_with_one_length_scale_per_feature():
    assert with_own_lengthscales(Matern52, 4).lengthscale.shape == (4,)
    assert with_own_lengthscales(Linear, 4) is not None


def test_a_prior_has_one_length_scale_per_feature_or_a_common_one():
    data = Data(np.random.default_rng(0).normal(size=(30, 3)), np.arange(30.0))
    method, key = build_method({"method": "gfsvi"}), jax.random.key(0)
    own = prior_for(method, data, {"kernel": "rbf"}, key)
    common = prior_for(method, data, {"kernel": "rbf", "lengthscales": "common"}, key)
    assert own.function.kernel.lengthscale.shape == (3,)
    assert common.function.kernel.lengthscale.shape == ()
    with pytest.raises(ExperimentError, match='"own" or "common"; got \'shared\''):
        prior_for(method, data, {"lengthscales": "shared"}, key)


def test_the_experiment_in_the_documentation_can_be_built():
    text = Path("docs/do/experiments.md").read_text()
    content = tomllib.loads(text.split("```toml\n")[1].split("```")[0])
    experiment = Experiment.parse("documented", content)
    for label in experiment.methods:
        assert build_method(experiment.settings_of(label, experiment.datasets[0])) is not None
