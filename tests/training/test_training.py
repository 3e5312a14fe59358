import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from gfsvi import Data, Training
from gfsvi.numerics.constraints import positive, real
from gfsvi.training import LBFGS, Adam, Optax
from gfsvi.training.loop import maximize


class Parabola(eqx.Module):
    """Best at place = 3 and width = 2."""

    place: jax.Array = real(0.0)
    width: jax.Array = positive(1.0)


DATA = Data(np.ones((6, 1)), np.full(6, 3.0))


def objective(model, batch, scale, *, key):
    value = -scale * jnp.sum((batch.y - model.place) ** 2) - (jnp.log(model.width / 2)) ** 2
    return value, {"place": model.place}


def test_parameters_reach_the_maximum_and_positive_ones_stay_positive(key):
    best, history = maximize(
        objective, Parabola(), DATA, Training(num_steps=500, optimizer=Adam(0.1)), key=key
    )
    assert best.place == pytest.approx(3.0, abs=1e-3)
    assert best.width == pytest.approx(2.0, abs=0.05)
    assert len(history.steps["objective"]) == 500


def test_fixed_parts_do_not_move(key):
    best, _ = maximize(
        objective, Parabola(), DATA, Training(num_steps=20), key=key, fixed=lambda m: m.width
    )
    assert best.width == 1.0 and best.place != 0.0


def test_batches_visit_every_row_once_before_any_comes_twice(key):
    seen = []

    def spy(model, batch, scale, *, key):
        assert scale == 3.0
        return jnp.sum(model.place * 0.0), {"first": batch.y[0], "second": batch.y[1]}

    rows = Data(np.ones((6, 1)), np.arange(6.0))
    _, history = maximize(
        spy, Parabola(), rows, Training(num_steps=6, optimizer=Adam(batch_size=2)), key=key
    )
    seen = np.stack([history.steps["first"], history.steps["second"]], axis=1)
    assert sorted(seen[:3].ravel()) == sorted(seen[3:].ravel()) == list(range(6))


def test_early_stopping_returns_the_model_that_scored_best(key):
    best, history = maximize(
        objective,
        Parabola(),
        DATA,
        Training(num_steps=2000, optimizer=Adam(0.1), evaluate_every=5, patience=3),
        key=key,
        validation=DATA,
        score=lambda model, _: -((model.place - 1.0) ** 2),
    )
    assert len(history.steps["objective"]) < 2000
    assert best.place == pytest.approx(1.0, abs=0.5)
    assert history.best_step == history.score_steps[np.argmax(history.scores)]


def test_a_loss_that_is_not_finite_says_when_and_what_to_do(key):
    def breaks(model, batch, scale, *, key):
        return jnp.log(0.5 - model.place), {"place": model.place}

    training = Training(num_steps=50, optimizer=Optax(optax.sgd(-1.0)))
    with pytest.raises(FloatingPointError, match=r"step \d+ \(place .*\)\. Try less\."):
        maximize(breaks, Parabola(), DATA, training, key=key, remedy="Try less.")


def test_the_same_key_gives_the_same_result(key):
    def noisy(model, batch, scale, *, key):
        return objective(model, batch, scale, key=key)[0] + jax.random.normal(key), {}

    runs = [maximize(noisy, Parabola(), DATA, Training(num_steps=10), key=key) for _ in range(2)]
    assert runs[0][0].place == runs[1][0].place
    np.testing.assert_array_equal(runs[0][1].steps["objective"], runs[1][1].steps["objective"])


def test_whoever_watches_can_stop_training(key):
    steps = []

    def watch(progress):
        steps.append(progress.step)
        return len(steps) == 2

    training = Training(num_steps=100, evaluate_every=10, watch=watch)
    maximize(objective, Parabola(), DATA, training, key=key)
    assert steps == [10, 20]


class Shelf:
    """A checkpoint that remembers every save, and hands out the one it is told to."""

    def __init__(self, content=None):
        self.saved, self._content = [], content

    def load(self):
        return self._content

    def save(self, content, *, finished):
        self.saved.append((content, finished))


@pytest.mark.parametrize("quasi_newton", [False, True])
@pytest.mark.parametrize("look", [0, 3, 9])
def test_a_run_that_goes_on_from_a_checkpoint_ends_exactly_as_if_undisturbed(
    key, look, quasi_newton
):
    def noisy(model, batch, scale, *, key):
        value, parts = objective(model, batch, scale, key=key)
        return value + model.place * jax.random.normal(key), parts

    def score(model, data):
        return -((model.place - 1.0) ** 2)

    def run(shelf):
        training = Training(
            num_steps=50,
            optimizer=LBFGS() if quasi_newton else Adam(0.3, batch_size=2),
            evaluate_every=5,
            checkpoint=lambda: shelf,
        )
        return maximize(noisy, Parabola(), DATA, training, key=key, validation=DATA, score=score)

    shelf = Shelf()
    undisturbed = run(shelf)
    assert [finished for _, finished in shelf.saved] == [False] * 9 + [True]
    resumed = run(Shelf(shelf.saved[look][0]))
    assert eqx.tree_equal(undisturbed, resumed)


def test_a_run_that_was_told_to_stop_is_not_remembered_as_finished(key):
    shelf = Shelf()
    training = Training(
        num_steps=50, evaluate_every=5, watch=lambda p: p.step == 10, checkpoint=lambda: shelf
    )
    maximize(objective, Parabola(), DATA, training, key=key)
    assert [finished for _, finished in shelf.saved] == [False]
