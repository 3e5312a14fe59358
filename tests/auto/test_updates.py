"""A fit that learns further rows says when to fit again, and only then."""

import numpy as np
import pytest
from scipy.stats import betabinom

from gfsvi import Data, Model
from gfsvi.auto import Fitted, Learner
from gfsvi.auto.novelty import Novelty
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.updates import FALSE_ALARMS, NAME, is_remarkable
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Matern32
from gfsvi.likelihoods import Normal

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(360, 2))
Y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * RANDOM.normal(size=360)
FIRST, REST = slice(0, 200), slice(200, 360)
PARAMETERS = Parameters(kernel="matern52", hidden=(20,), random_state=0, likelihood="normal")


@pytest.fixture(scope="module")
def fitted():
    return Learner("regression", PARAMETERS).learn(X[FIRST], Y[FIRST])


def outgrown(fitted):
    return [found for found in fitted.diagnostics if found.name == NAME]


def streamed(fitted, x, y):
    """Whether the signal came while these rows were learned, ten at a time."""
    came = False
    for start in range(0, len(x), 10):
        fitted = fitted.condition_on(x[start : start + 10], y[start : start + 10])
        came |= bool(outgrown(fitted))
    return came


def test_rows_like_those_of_the_fit_raise_no_alarm(fitted):
    assert not streamed(fitted, X[REST], Y[REST])


def test_rows_from_elsewhere_raise_an_alarm(fitted):
    assert streamed(fitted, X[REST] + 2, Y[REST])


def test_targets_that_have_moved_raise_an_alarm(fitted):
    assert streamed(fitted, X[REST][:60], Y[REST][:60] + np.linspace(0, 30, 60))


def test_the_alarm_ends_when_rows_are_as_before(fitted):
    moved = fitted.condition_on(X[REST][:30], Y[REST][:30] + 2)
    assert outgrown(moved)
    moved = moved.forget(X[REST][:30], Y[REST][:30] + 2)
    back = moved.condition_on(np.tile(X[REST], (2, 1)), np.tile(Y[REST], 2))
    assert not outgrown(back)


def test_saved_loaded_and_conditioned_is_all_at_once(fitted, tmp_path):
    begun = fitted.condition_on(X[200:260], Y[200:260])
    begun.save(tmp_path / "begun.gfsvi")
    ended = Fitted.load(tmp_path / "begun.gfsvi").condition_on(X[260:], Y[260:])
    once = fitted.condition_on(X[REST], Y[REST])
    for name in ("mean", "std"):
        found, expected = (np.asarray(getattr(f.predict(X[:50]), name)) for f in (ended, once))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    assert ended.updates is not None and once.updates is not None
    assert ended.updates.num_learned == once.updates.num_learned == 160
    np.testing.assert_allclose(ended.updates.novelty, once.updates.novelty)


def test_predictions_come_near_those_of_a_fit_to_all(fitted):
    """The linearised network learns nearly what a network that is trained on all rows does."""
    trained = Learner("regression", PARAMETERS).learn(X, Y).predict(X).mean
    updated = fitted.condition_on(X[REST], Y[REST])
    before, after = (np.mean((f.predict(X).mean - trained) ** 2) for f in (fitted, updated))
    assert after < 0.5 * before


@pytest.mark.parametrize("num_known", [40, 250, 1000])
def test_the_limit_is_that_of_the_beta_binomial(num_known):
    rank = int(0.05 * (num_known + 1))
    tail = betabinom(100, rank, num_known + 1 - rank).sf(np.arange(100) - 1)
    found = [is_remarkable(count, 100, num_known) for count in range(100)]
    assert found == list(tail < FALSE_ALARMS)


def test_few_rows_raise_no_alarm():
    assert not is_remarkable(19, 19, 1000)
    assert not is_remarkable(100, 100, 10)


def test_novelty_of_a_row_left_out_is_that_of_a_fit_without_it():
    data = Data(X[:30], Y[:30])
    prior = Model(GaussianProcess(Matern32(0.7)), Normal(0.3))
    found = Novelty.of(prior, data, seed=0).left_out()
    for row in (0, 7, 29):
        others = Novelty.of(prior, data.take(np.delete(np.arange(30), row)), seed=0)
        assert found[row] == pytest.approx(others.at(X[row : row + 1])[0], abs=1e-9)
