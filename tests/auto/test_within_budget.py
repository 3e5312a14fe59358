"""A time budget makes a simpler fit, and the fit says so."""

import dataclasses
import warnings

import numpy as np
import pytest

from gfsvi import Data, GFSVIClassifier, GFSVIRegressor
from gfsvi.auto import within_budget
from gfsvi.auto.holding_out import Apart
from gfsvi.auto.phases import (
    DIAGNOSTICS,
    LAST_FIT,
    MEAN,
    POSTERIOR,
    PRIOR,
    Phases,
    Stage,
    seconds_after,
)
from gfsvi.auto.problem import Problem
from gfsvi.auto.recipe import recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.auto.within_budget import (
    FEWEST_POINTS,
    LongFitWarning,
    long_fit,
    simpler_fit,
    simplified,
    work_of,
)
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.training.settings import Training

METHOD = recipe_for("gfsvi").method
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
NONE = np.zeros(0, int)


def settings_of(rows=5000, features=10, outputs=1):
    return Settings.derive(METHOD, rows, 0, (features,), outputs, 0)


def problem_of(settings, outputs=1, likelihood=None):
    rows = Data(np.zeros((2, 1)), np.zeros((2, outputs)))
    return Problem(rows, Apart(NONE, NONE), likelihood or Normal(), (), settings)


def work(settings, outputs=1, likelihood=None, **options):
    return work_of(problem_of(settings, outputs, likelihood), METHOD, **options)


@pytest.fixture
def slow_machine(monkeypatch):
    """A machine that computes a million times a second."""
    monkeypatch.setattr(within_budget, "operations_per_second", lambda: 1e6)


def test_less_time_leaves_fewer_points_and_enough_time_all(monkeypatch):
    monkeypatch.setattr(within_budget, "operations_per_second", lambda: 1e10)
    settings = settings_of()
    points = [simplified(settings, work(settings), s).num_points for s in (1e-4, 0.5, 5, 1e6)]
    assert points == sorted(points) and points[0] == FEWEST_POINTS < points[1] < points[2]
    assert points[3] == settings.num_points
    assert simplified(settings, work(settings), np.inf) is settings


def test_the_work_that_is_left_takes_no_longer_than_its_share(monkeypatch):
    monkeypatch.setattr(within_budget, "operations_per_second", lambda: 1e10)
    settings = settings_of(outputs=3)
    fewer = simplified(settings, work(settings, 3), 10.0)
    assert work(fewer, 3).seconds() <= 0.35 * 10.0 < work(settings, 3).seconds()


def test_labels_take_rounds_and_fewer_in_haste():
    settings = settings_of(outputs=5)
    once, rounds, haste = (
        work(settings, 5, likelihood, in_haste=haste).operations()
        for likelihood, haste in (
            (Normal(), False),
            (Categorical(5), False),
            (Categorical(5), True),
        )
    )
    assert once < haste < rounds


def test_methods_that_are_trained_and_images_have_no_such_work():
    trained = recipe_for("gfsvi_paper").method
    assert work_of(problem_of(settings_of()), trained) is None
    images = Settings.derive(METHOD, 100, 0, (4, 4), 1, 0)
    assert work(images) is None and long_fit(None) is None


def test_a_fit_that_will_take_minutes_says_how_many(slow_machine):
    sentence = long_fit(work(settings_of()))
    assert sentence is not None and "minutes" in sentence and "--time-budget 60" in sentence
    assert long_fit(work(settings_of(rows=100, features=3))) is None  # too little to ask


def test_a_long_fit_warns_before_it_begins(slow_machine, monkeypatch):
    monkeypatch.setattr(within_budget, "CERTAINLY_SHORT", 0)
    with pytest.warns(LongFitWarning, match="about [0-9]+ minutes"):
        GFSVIRegressor(random_state=0).fit(X, X[:, 0])


def test_what_was_left_out_is_said_in_words():
    wanted = settings_of()
    used = dataclasses.replace(wanted, num_points=50)
    assert simpler_fit(wanted, wanted, ()) is None
    note = simpler_fit(wanted, used, {MEAN, PRIOR})
    assert note is not None and note.name == "simplified"
    assert f"50 instead of {wanted.num_points} measurement points" in note.message
    assert "fewer steps for the prior, fewer steps for the network" in note.message


def test_phases_end_in_order_and_leave_time_for_the_posterior():
    phases = Phases(None, None, 10.0, reserved=4.0)
    after = [phases._after[phase] for phase in (PRIOR, MEAN, POSTERIOR)]
    assert after == pytest.approx([10 - 0.45 * 4.5, 10 - 4.5, 1.5])
    assert Phases(None, None, None).is_over(PRIOR) is None


def test_a_new_stage_takes_its_share_from_all_others():
    before = (Stage("one", 0.5), Stage("two", 0.5), Stage("last", seconds=2.0))
    assert seconds_after(before, 10.0) == pytest.approx({"one": 6.0, "two": 2.0, "last": 0.0})
    stages = (*before[:2], Stage("new", 1.0, seconds=1.0), before[2])
    assert seconds_after(stages, 10.0) == pytest.approx(
        {"one": 8.25, "two": 6.5, "new": 2.0, "last": 0.0}
    )


def test_a_stage_is_told_how_long_it_may_take():
    phases = Phases(None, None, 10.0, reserved=4.0)
    left = [phases.clock_of(phase).left for phase in (PRIOR, MEAN, POSTERIOR, DIAGNOSTICS)]
    assert left == pytest.approx([0.45 * 4.5, 4.5, 8.5, 9.25], abs=0.1)
    assert np.isinf(Phases(None, None, None).clock_of(PRIOR).left)


def test_a_phase_that_the_clock_ended_is_known():
    phases = Phases(None, None, 1e-3)
    training = phases.training(Training(), PRIOR)
    while not training.is_late:
        pass
    assert phases.cut == {PRIOR}


@pytest.mark.parametrize("kind", [GFSVIRegressor, GFSVIClassifier])
def test_without_time_there_is_a_model_that_predicts(kind):
    y = X[:, 0] if kind is GFSVIRegressor else (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = kind(random_state=0, time_budget=1e-3).fit(X, y)
    assert np.all(np.isfinite(np.asarray(estimator.predict(X), float)))
    [note] = [d for d in estimator.diagnostics_ if d.name == "simplified"]
    assert "40 instead of" in note.message


def test_time_is_kept_to_learn_held_out_rows_in_the_end():
    phases = Phases(None, None, 100.0, reserved=10.0, again=10.0)
    without = Phases(None, None, 100.0, reserved=10.0)
    assert phases.clock_of(MEAN).left < without.clock_of(MEAN).left - 9
    assert phases.clock_of(LAST_FIT).left - phases.clock_of(DIAGNOSTICS).left > 9.9
    assert phases.has_time_for(10.0, LAST_FIT) and not phases.has_time_for(99.0, LAST_FIT)


def test_a_table_in_time_order_is_computed_twice():
    problem = problem_of(settings_of())
    judged = dataclasses.replace(problem, apart=Apart(np.array([1]), NONE))
    once, twice = (work_of(p, METHOD) for p in (problem, judged))
    assert twice.operations() == 2 * once.operations()
