"""Tables that are read piece by piece are fitted, saved and predicted like others."""

from typing import Any

import numpy as np
import pytest

from gfsvi.auto import Fitted, Learner, Parameters, recipe_for
from gfsvi.auto.streamed import learn_streamed
from gfsvi.auto.streamed_numbers import StreamedTable
from gfsvi.numerics.groups import Alone
from gfsvi.serving import read_predictor
from gfsvi.tables import sources
from gfsvi.tables.reading import TableError
from gfsvi.tables.sources import TableFiles

from .flights import flights
from .processes import in_processes

SMALL: dict[str, Any] = {"hidden": (10,), "num_steps": 60, "num_points": 40, "random_state": 0}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("flights") / "flights.parquet"
    flights(3000).to_parquet(place, index=False, row_group_size=700)
    return place


def fit(path, group=None, target=("delay",), recipe="gfsvi", **options) -> Any:
    table = StreamedTable(TableFiles.at(path), target, group=group or Alone())
    given: dict[str, Any] = SMALL | {"held_out": "random"} | options
    parameters = Parameters(**given)
    learner_for = lambda preparation: Learner(preparation.task, parameters, recipe_for(recipe))  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PIECE", 100)
        return learn_streamed(learner_for, table)


@pytest.fixture(scope="module")
def streamed(path):
    # As several processes fit it: two threads of OpenBLAS add up in another order than one.
    return in_processes(1, lambda group: fit(path, group))[0]


def test_a_streamed_fit_predicts_new_rows(streamed):
    new = flights(500, seed=1)
    scores = streamed.fitted.evaluate(new, new["delay"].to_numpy())
    assert scores["mse"] < 0.35 * scores["mse_baseline"]
    assert scores["log_predictive_density"] > scores["log_predictive_density_baseline"] + 0.5
    assert 0.9 < scores["coverage"] < 0.99


def test_it_is_saved_and_predicts_without_jax(streamed, tmp_path):
    new = flights(50, seed=1)
    streamed.fitted.save(tmp_path / "model.gfsvi")
    expected = streamed.fitted.predict(new)
    loaded: Any = Fitted.load(tmp_path / "model.gfsvi").predict(new)
    predictor = read_predictor(tmp_path / "model.gfsvi")
    assert predictor is not None
    predicted: Any = predictor.predict(new)
    for found in (loaded, predicted):
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-6)
        np.testing.assert_allclose(found.std, expected.std, rtol=1e-6)


def test_held_out_rows_are_not_trained_on(streamed, path):
    held_out = streamed.fitted.validation_rows
    assert 0.05 * 3000 < len(held_out) < 0.15 * 3000
    assert streamed.fitted.settings.num_rows == 3000 - len(held_out)


def test_it_is_told_how_far_adding_up_rows_has_come(path):
    told = []

    def watch(stage, progress):
        told.extend([progress[:2]] if stage == "posterior" else [])

    settings = fit(path, num_steps=2, watch=watch).fitted.settings
    steps, (expected, *_) = [step for step, _ in told], [num_steps for _, num_steps in told]
    assert steps == sorted(steps) and steps[0] > 0
    # One pass at least, and as many more as a noise function takes.
    assert settings.num_rows <= steps[-1] <= expected == 3 * settings.num_rows


def test_the_latest_rows_are_held_out_in_time_order(path):
    fitted = fit(path, held_out="auto", num_steps=2).fitted
    np.testing.assert_array_equal(fitted.validation_rows, np.arange(2700, 3000))


def test_two_processes_fit_the_model_of_one(streamed, path):
    new = flights(50, seed=1)
    expected = streamed.fitted.predict(new)
    for found in in_processes(2, lambda group: fit(path, group)):
        np.testing.assert_array_equal(found.fitted.predict(new).mean, expected.mean)
        np.testing.assert_array_equal(found.fitted.predict(new).std, expected.std)


def test_labels_and_several_targets_are_fitted(path, tmp_path):
    frame = flights(3000)
    frame["late"] = np.where(frame["delay"] > 5, "yes", "no")
    frame["twice"] = 2 * frame["delay"] + 1
    frame["weight"] = 1.0
    frame.to_parquet(tmp_path / "table.parquet", index=False)
    labels = fit(tmp_path / "table.parquet", target=("late",)).fitted
    assert labels.evaluate(frame, (frame["late"] == "yes").to_numpy().astype(int))["accuracy"] > 0.9
    both = fit(tmp_path / "table.parquet", target=("delay", "twice")).fitted
    assert np.shape(both.predict(frame[:5]).mean) == (5, 2)


def test_other_methods_are_refused(path):
    with pytest.raises(TableError, match="expected the method gfsvi"):
        fit(path, recipe="map")
