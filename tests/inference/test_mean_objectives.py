"""The objective of the mean alone, against its formula."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model
from gfsvi.covariances import Diagonal
from gfsvi.functions import GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference.initialization import random_start
from gfsvi.inference.mean_objectives import MeanObjective, _half_square
from gfsvi.kernels import Matern32
from gfsvi.likelihoods import Normal
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double

GAMMA = 1e-4


@pytest.fixture
def case():
    """Rows, points that begin with them, a prior and a random network."""
    random = np.random.default_rng(0)
    data = Data(random.normal(size=(7, 2)), random.normal(size=7))
    points = np.concatenate([data.x, random.normal(size=(3, 2))])
    network, key = MLP((5,)), jax.random.key(0)
    function = random_start(
        LinearizedNetwork, network, Diagonal(), points, jnp.float32, None, key=key
    )
    return data, points, GaussianProcess(Matern32(0.7)), Model(function, Normal(0.3))


@double
def objective_of(case, *, rows_lead):
    data, points, prior, model = case
    objective = MeanObjective.of(prior, jnp.asarray(points), GAMMA, rows_lead=rows_lead)
    params, rest = eqx.partition(model.function.params, eqx.is_inexact_array)

    def value(params):
        moved = eqx.tree_at(lambda m: m.function.params, model, eqx.combine(params, rest))
        return objective(moved, data, 1.0, key=jax.random.key(0))[0]

    return jax.tree.map(np.asarray, jax.value_and_grad(value)(params))


@double
def test_it_is_the_log_likelihood_less_half_the_distance_in_precision(case):
    data, points, prior, model = case
    f = np.asarray(model.function.network.apply(model.function.params, jnp.asarray(points)))[:, 0]
    noise = float(np.ravel(model.likelihood.noise)[0])
    residual = (data.y - f[:7]) / noise
    fit = -0.5 * np.sum(residual**2) - 7 * np.log(noise * np.sqrt(2 * np.pi))
    gram = np.asarray(prior.at(points).cov[0]) + GAMMA * 10 * np.eye(10)
    expected = fit - 0.5 * f @ np.linalg.solve(gram, f)
    assert objective_of(case, rows_lead=False)[0] == pytest.approx(expected, rel=1e-6)


def test_rows_that_lead_are_evaluated_once_with_the_same_result(case):
    value, slope = objective_of(case, rows_lead=False)
    value_once, slope_once = objective_of(case, rows_lead=True)
    assert value_once == pytest.approx(value, rel=1e-6)
    for one, other in zip(jax.tree.leaves(slope_once), jax.tree.leaves(slope), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@double
def test_the_gradient_of_half_a_square_is_the_product():
    root = np.random.default_rng(1).normal(size=(2, 4, 4))
    precision, d = root @ np.swapaxes(root, 1, 2), np.random.default_rng(2).normal(size=(2, 4))
    value, slope = jax.value_and_grad(lambda d: _half_square(precision, d))(jnp.asarray(d))
    assert float(value) == pytest.approx(0.5 * np.einsum("oi,oij,oj->", d, precision, d))
    np.testing.assert_allclose(slope, np.einsum("oij,oj->oi", precision, d), rtol=1e-12)
