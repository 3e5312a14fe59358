"""L-BFGS steps, against SciPy's and against what batches would have reached."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize, rosen

from gfsvi import Data, Training
from gfsvi.numerics.constraints import real
from gfsvi.training import LBFGS, Adam, FullBatchUpTo
from gfsvi.training.loop import maximize

ROWS = Data(np.ones((4, 1)), np.ones(4))
STEPS = Training(num_steps=60, optimizer=LBFGS(), evaluate_every=20)


class Place(eqx.Module):
    """Somewhere in a valley."""

    at: jax.Array = real((-1.2, 1.0, -0.5))


def valley(model, batch, scale, *, key):
    """Minus Rosenbrock's function for every row: curved, and badly scaled."""
    first, second = model.at[:-1], model.at[1:]
    value = jnp.sum(100.0 * (second - first**2) ** 2 + (1 - first) ** 2)
    return -scale * jnp.sum(batch.y) * value, {}


def test_the_bottom_is_where_scipy_finds_it(key):
    theirs = minimize(rosen, np.asarray(Place().at), method="L-BFGS-B").x
    best, history = maximize(valley, Place(), ROWS, STEPS, key=key)
    np.testing.assert_allclose(best.at, theirs, atol=1e-4)
    assert np.all(np.diff(history.steps["objective"]) >= 0)  # the line search sees to that


def test_it_comes_further_than_five_times_as_many_steps_of_adam(key):
    adam = Training(num_steps=300, optimizer=Adam(0.05))
    slow = maximize(valley, Place(), ROWS, adam, key=key)[1].steps["objective"][-1]
    assert maximize(valley, Place(), ROWS, STEPS, key=key)[1].steps["objective"][-1] > slow / 100


def test_parameters_keep_their_precision(key):
    class Weights(eqx.Module):
        at: jax.Array

    start = Weights(jnp.array([-1.2, 1.0], jnp.float32))
    best, _ = maximize(valley, start, ROWS, STEPS, key=key)
    assert best.at.dtype == np.float32
    np.testing.assert_allclose(best.at, 1.0, atol=1e-3)


def test_a_slope_that_is_not_finite_is_an_error_in_words(key):
    def breaks(model, batch, scale, *, key):
        return jnp.log(model.at[0]), {}

    with pytest.raises(FloatingPointError, match="not finite at step 1 .* Try less"):
        maximize(breaks, Place(), ROWS, STEPS, key=key, remedy="Try less.")


@pytest.mark.parametrize(
    ("rows", "is_quasi_newton", "num_steps"),
    [(100, False, 1000), (101, True, 202), (500, True, 800), (501, False, 4000)],
)
def test_more_rows_than_a_batch_and_not_too_many_are_used_all_at_once(
    rows, is_quasi_newton, num_steps
):
    optimizer = FullBatchUpTo(500, Adam(batch_size=100, max_step_multiplier=4))
    training = Training(1000, optimizer).for_rows(rows)
    assert isinstance(training.optimizer, LBFGS) == is_quasi_newton
    assert training.num_steps == num_steps
    assert training.for_rows(rows) == training
