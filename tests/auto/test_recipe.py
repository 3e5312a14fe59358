"""What "gfsvi" and "gfsvi_paper" stand for, wherever they are asked for."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from gfsvi import (
    BayesianClassifier,
    BayesianRegressor,
    Data,
    GFSVIClassifier,
    GFSVIRegressor,
    Model,
    registry,
)
from gfsvi.auto.phases import Phases
from gfsvi.auto.recipe import _NAMED, DEFAULT, PAPER, TRAINED, Recipe, recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.auto.sizing import network_for, sized
from gfsvi.auto.solving import Solver
from gfsvi.bench.building import build_method
from gfsvi.bench.experiment import Experiment
from gfsvi.cli import main
from gfsvi.covariances import ClosedForm, Diagonal, Kronecker
from gfsvi.functions import GaussianProcess
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.calibration import HeldOut, MostProbable, NoCalibration
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, MFVI, AbstractMethod, Laplace
from gfsvi.points import FixedPoints, Mixture, UniformBox
from gfsvi.training.optimizers import Adam

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=40)


class Seen(Exception):
    pass


def sized_for(recipe: Recipe, num_rows: int = 300, shape=(8,), **given) -> AbstractMethod:
    """The method that an estimator would run for so many rows."""
    settings = Settings.derive(recipe.method, num_rows, 30, shape, 1, 0, **given)
    network = network_for(None, recipe.method, settings, 1)
    return sized(recipe, settings, network, Phases(None, None, None))


def changed_fields(method: AbstractMethod, original: AbstractMethod) -> set[str]:
    names = [field.name for field in dataclasses.fields(original)]
    return {name for name in names if getattr(method, name) != getattr(original, name)}


@pytest.mark.parametrize(
    "estimator", [GFSVIRegressor(), GFSVIClassifier(), BayesianRegressor(), BayesianClassifier()]
)
def test_estimators_use_the_default_recipe(estimator):
    assert estimator._learner().recipe is DEFAULT


def test_the_command_line_uses_the_default_recipe(monkeypatch, tmp_path):
    found = []

    def solve(self, problem):
        found.append(self.recipe)
        raise Seen

    monkeypatch.setattr(Solver, "solve", solve)
    table = tmp_path / "table.csv"
    np.savetxt(table, np.column_stack([X, Y]), delimiter=",", header="a,b,y", comments="")
    with pytest.raises(Seen):
        main(["fit", str(table), "--target", "y", "--output", str(tmp_path / "model"), "--quiet"])
    assert found == [DEFAULT] and found[0] is DEFAULT


def test_benchmarks_use_the_default_recipe():
    assert build_method({"method": "gfsvi"}) == DEFAULT.method


def test_an_estimator_changes_nothing_of_the_default_but_sizes():
    method = sized_for(DEFAULT)
    assert changed_fields(method, DEFAULT.method) <= {"network", "points", "mean", "covariance"}
    assert isinstance(method.mean, AutoMean) and isinstance(method.points, UniformBox)
    assert changed_fields(method.covariance, DEFAULT.method.covariance) <= {"max_rows"}
    assert changed_fields(method.mean.quick, DEFAULT.method.mean.quick) <= {"training"}


def test_a_trained_covariance_changes_nothing_of_its_recipe_but_sizes():
    method = sized_for(TRAINED)
    assert changed_fields(method, TRAINED.method) <= {"network", "points", "mean", "training"}
    assert isinstance(method.covariance, Kronecker) and isinstance(method.mean, AutoMean)
    rows, box = method.points.parts
    assert isinstance(rows, FixedPoints) and isinstance(box, UniformBox)
    ours, theirs = method.training, TRAINED.method.training
    assert (ours.evaluate_every, ours.patience) == (theirs.evaluate_every, theirs.patience)
    assert ours.optimizer == dataclasses.replace(theirs.optimizer, max_step_multiplier=1.0)
    assert ours.num_steps == theirs.num_steps


def test_the_papers_recipe_is_algorithm_1():
    method = PAPER.method
    assert isinstance(method.covariance, Diagonal)
    assert method.mean is None
    assert isinstance(method.calibration, NoCalibration) and PAPER.calibration is None
    assert isinstance(method.points, UniformBox)
    assert isinstance(method.training.optimizer, Adam) and method.training.optimizer.slow is None
    assert method.fixed is None
    assert PAPER.likelihood == "normal" and PAPER.departures == ()


@pytest.mark.parametrize("num_rows", [50, 300, 30_000])
def test_an_estimator_changes_nothing_of_the_papers_recipe_but_network_and_batches(num_rows):
    method = sized_for(PAPER, num_rows)
    assert changed_fields(method, PAPER.method) <= {"network", "training"}
    ours, theirs = method.training, PAPER.method.training
    assert ours.num_steps == theirs.num_steps and ours.optimizer == theirs.optimizer


def test_numbers_that_users_give_are_used_for_the_papers_recipe():
    method = sized_for(PAPER, num_points=17, gamma=1e-3, num_steps=9, batch_size=11)
    assert method.points == UniformBox(17) and method.gamma == 1e-3
    assert method.training.num_steps == 9 and method.training.optimizer.batch_size == 11


def test_on_images_the_papers_recipe_keeps_its_box_and_has_no_mean_fit():
    method = sized_for(PAPER, 600, (8, 8, 1))
    assert changed_fields(method, PAPER.method) <= {"network", "training", "subsampling"}
    assert method.training.num_steps == 600  # a fifth of them is left where the mean has its own
    assert sized_for(TRAINED, 600, (8, 8, 1)).training.num_steps == 200


def test_on_images_the_closed_form_has_as_many_steps_of_the_mean_and_some_images_as_points():
    method = sized_for(DEFAULT, 600, (8, 8, 1))
    assert method.mean.otherwise.training.num_steps == 600
    assert method.covariance == ClosedForm(max_rows=300) and method.points.num_points == 25
    assert isinstance(sized_for(DEFAULT, 600, (8, 8, 1)).points, Mixture)


def test_the_papers_recipe_runs_in_an_estimator():
    tiny = {"kernel": "rbf", "hidden": (8,), "num_points": 30, "num_steps": 20, "random_state": 0}
    fitted = BayesianRegressor("gfsvi_paper", **tiny).fit(X, Y)
    assert isinstance(fitted.posterior_.function.covariance, Diagonal)
    assert isinstance(fitted.posterior_.likelihood, Normal)
    assert len(fitted.history_.steps["objective"]) == 20
    mean, std = fitted.predict(X, return_std=True)
    assert np.all(np.isfinite(mean)) and np.all(std > 0)


def test_the_papers_recipe_runs_in_a_benchmark(key):
    assert build_method({"method": "gfsvi_paper"}) == PAPER.method
    method = build_method(
        {
            "method": "gfsvi_paper",
            "network": {"hidden": (8,)},
            "points": {"name": "uniform_box", "num_points": 30},
            "training": {"num_steps": 20},
        }
    )
    assert changed_fields(method, PAPER.method) == {"network", "points", "training"}
    fit = method(Model(GaussianProcess(RBF()), Normal(0.3)), Data(X, Y), key=key)
    assert np.all(np.isfinite(fit.posterior.predict(X).mean))


def test_experiments_can_ask_for_the_papers_recipe(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('title = "t"\ntask = "curve"\ndatasets = ["sine"]\n[methods.gfsvi_paper]\n')
    assert {run.settings["method"] for run in Experiment.read(path).runs} == {"gfsvi_paper"}


def test_departures_from_the_paper_are_sentences():
    assert len(DEFAULT.departures) > 0
    for sentence in DEFAULT.departures:
        assert sentence[0].isupper() and sentence.endswith(".") and "instead of" in sentence


@pytest.mark.parametrize("name", ["gfsvi_paper", "GFSVI-Paper", "gfsvi paper"])
def test_spelling_does_not_matter(name):
    assert recipe_for(name) is PAPER


def test_an_unknown_name_is_answered_with_all_recipes():
    with pytest.raises(ValueError, match="gfsvi, gfsvi_paper, gfsvi_trained.*Did you mean 'gfsvi'"):
        recipe_for("gfsv")


@pytest.mark.parametrize(
    ("method", "calibration"),
    [
        ("laplace", MostProbable()),
        (Laplace(), MostProbable()),
        (Laplace(calibration=NoCalibration()), NoCalibration()),
        (MFVI(calibration=HeldOut(0.5)), HeldOut(0.5)),
        (GFSVI(calibration=NoCalibration()), NoCalibration()),
    ],
)
def test_a_given_method_keeps_the_calibration_it_was_given(method, calibration):
    assert sized_for(recipe_for(method)).calibration == calibration


def test_every_recipe_is_known_by_name_without_importing_it():
    assert {name for name in _NAMED if name not in registry.names("methods")} == {*registry.RECIPES}
