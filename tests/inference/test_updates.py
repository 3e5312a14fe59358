"""Rows that enter a closed-form posterior one by one, and leave it again."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gfsvi import Data, Model, condition_on, forget
from gfsvi.functions import GaussianProcess
from gfsvi.inference.conjugate import Interpolation, tangents_of
from gfsvi.inference.conjugate_fit import conjugate_posterior, natural_gradient_posterior
from gfsvi.inference.updates import predicted_and_learned
from gfsvi.kernels import Matern52, Periodic
from gfsvi.likelihoods import AdaptiveNormal, Bernoulli, Normal, Poisson, WarpedNormal
from gfsvi.likelihoods.noise_function import NoiseFunction
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=60)
TWO = np.stack([Y, X[:, 1] ** 2], axis=1)
NEW = RANDOM.normal(size=(7, 3))
FIRST, REST = np.arange(35), np.arange(35, 60)
MATERN, PERIODIC = Matern52(1.5), Periodic(1.0, 1.0, 4.0)

CASES = {
    "in NumPy": (MLP((20,)), MATERN, Normal(0.2), Y),
    "with JAX": (MLP((20,), activation=jnp.sin), PERIODIC, Normal(0.2), Y),
    "two outputs": (MLP((20,), 2), MATERN, Normal(np.array([0.2, 0.4])), TWO),
    "warped": (MLP((20,)), MATERN, WarpedNormal(0.2), Y),
}
BUMPS = NoiseFunction(*map(jnp.asarray, (X[:5], np.ones(3), RANDOM.normal(size=(1, 5)))))
UNEVEN = AdaptiveNormal(0.2, degrees_of_freedom=5.0, spread=1.2, factor=BUMPS)
OTHERS = {"poisson": (Poisson(), np.round(np.exp(Y))), "bernoulli": (Bernoulli(), 1 * (Y > 0))}


@double
def all_at_once(network, kernel, likelihood, data, fitted=conjugate_posterior):
    """The posterior from sums over all rows, around a random network."""
    prior = GaussianProcess(kernel)
    params = network.init(jnp.asarray(X), key=jax.random.key(1), dtype=jnp.float64)
    interpolation = Interpolation.at(tangents_of(network, params), prior, X[:40], gamma=1e-10)
    return fitted(interpolation, Model(prior, likelihood), data)


@double
def assert_same(model, other, tolerance=1e-8):
    for name in ("mean", "cov"):
        found, expected = (getattr(m.function.at(NEW), name) for m in (model, other))
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def posterior_of(name, rows, weights=None):
    network, kernel, likelihood, y = CASES[name]
    return all_at_once(network, kernel, likelihood, Data(X[rows], y[rows], weights))


def rows_of(name, rows, weights=None):
    return Data(X[rows], CASES[name][3][rows], weights)


@pytest.mark.parametrize("name", CASES)
def test_rows_learned_one_by_one_are_those_learned_at_once(name):
    model = posterior_of(name, FIRST)
    for row in REST:
        model = condition_on(model, rows_of(name, [row]))
    assert_same(model, posterior_of(name, np.arange(60)))


@pytest.mark.parametrize("name", CASES)
def test_rows_learned_together_are_those_learned_at_once(name, monkeypatch):
    monkeypatch.setattr("gfsvi.inference.updates.BLOCK", 10)
    model = condition_on(posterior_of(name, FIRST), rows_of(name, REST))
    assert_same(model, posterior_of(name, np.arange(60)))


@pytest.mark.parametrize("name", CASES)
def test_forgotten_rows_leave_no_trace(name):
    model = forget(posterior_of(name, np.arange(60)), rows_of(name, REST))
    assert_same(model, posterior_of(name, FIRST))


def test_a_weight_counts_like_copies():
    twice = condition_on(posterior_of("in NumPy", FIRST), rows_of("in NumPy", np.tile(REST, 2)))
    weights = np.full(len(REST), 2.0)
    assert_same(
        condition_on(posterior_of("in NumPy", FIRST), rows_of("in NumPy", REST, weights)), twice
    )
    assert_same(forget(twice, rows_of("in NumPy", REST, weights)), posterior_of("in NumPy", FIRST))


@settings(max_examples=20, deadline=None)
@given(st.permutations(list(REST[:8])), st.integers(0, 7))
def test_the_order_of_learning_and_forgetting_does_not_matter(order, forgotten):
    model = posterior_of("in NumPy", FIRST)
    for row in order:
        model = condition_on(model, rows_of("in NumPy", [row]))
    model = forget(model, rows_of("in NumPy", [order[forgotten]]))
    kept = [*FIRST, *order[:forgotten], *order[forgotten + 1 :]]
    assert_same(model, posterior_of("in NumPy", np.array(kept)))


def test_hundreds_of_small_steps_do_not_drift():
    start = posterior_of("in NumPy", FIRST)
    model = start
    for _ in range(10):
        for row in REST:
            model = condition_on(model, rows_of("in NumPy", [row]))
        for row in REST[::-1]:
            model = forget(model, rows_of("in NumPy", [row]))
    assert_same(model, start)


@pytest.mark.parametrize("name", OTHERS)
def test_other_likelihoods_come_close_to_learning_at_once(name):
    likelihood, y = OTHERS[name]
    first, rest, both = (Data(X[rows], y[rows]) for rows in (FIRST, REST, np.arange(60)))
    kind = (MLP((20,)), MATERN, likelihood)
    start, end = (all_at_once(*kind, data, natural_gradient_posterior) for data in (first, both))
    model = condition_on(start, rest)

    def distance(one, other):
        means = [np.asarray(double(m.function.at)(NEW).mean) for m in (one, other)]
        return float(np.max(np.abs(means[0] - means[1])))

    assert distance(model, end) < 0.2 * distance(start, end)
    assert distance(forget(model, rest), start) < 0.2 * distance(start, end)


def test_rows_that_were_never_learned_cannot_be_forgotten():
    model = posterior_of("in NumPy", FIRST)
    with pytest.raises(ValueError, match="expects rows that the posterior has learned from"):
        forget(model, Data(20 * NEW, np.zeros(len(NEW)), np.full(len(NEW), 1e4)))


SEEN = {
    **CASES,
    "with noise that depends on the row": (MLP((20,)), MATERN, UNEVEN, Y),
    **{name: (MLP((20,)), MATERN, *rest) for name, rest in OTHERS.items()},
}


@pytest.mark.parametrize("name", SEEN)
def test_predicting_and_learning_in_one_is_predicting_and_then_learning(name):
    network, kernel, likelihood, y = SEEN[name]
    first, fresh = Data(X[FIRST], y[FIRST]), Data(X[REST], y[REST])
    fitted = natural_gradient_posterior if name in OTHERS else conjugate_posterior
    model = all_at_once(network, kernel, likelihood, first, fitted)
    predictive, learned = predicted_and_learned(model, fresh)
    expected = model.predict(X[REST])
    for found, known in zip(jax.tree.leaves(predictive), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(found, known, rtol=1e-10)
    assert_same(learned, condition_on(model, fresh), 1e-12)
    assert learned.likelihood is model.likelihood


def test_updating_needs_the_closed_form():
    model = Model(GaussianProcess(MATERN), Normal(0.2))
    with pytest.raises(ValueError, match="expects a posterior in closed form; got a Gaussian"):
        condition_on(model, Data(X, Y))


def test_what_is_left_of_the_prior_is_not_learned_away():
    """Only values at the measurement points are updated, so that a far row stays uncertain."""
    model = posterior_of("in NumPy", FIRST)
    far = Data(np.full((1, 3), 50.0), np.zeros(1))
    left = dataclasses.replace(model.function, root=0 * model.function.root)
    after = condition_on(model, far).function
    assert double(after.marginals)(far.x).variance >= double(left.marginals)(far.x).variance
