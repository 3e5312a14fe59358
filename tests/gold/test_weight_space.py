"""Weight-space methods against posteriors in closed form."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from gfsvi import Data, Model, Training
from gfsvi.covariances import Diagonal
from gfsvi.functions import BayesianNetwork, FeatureFunction
from gfsvi.inference.divergences import weight_kl
from gfsvi.likelihoods import Normal
from gfsvi.methods import MFVI, VIP
from gfsvi.methods.tfsvi import linearized_kl
from gfsvi.methods.vip import coefficient_kl, with_exact_coefficients
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double
from gfsvi.training import Adam

NOISE = 0.3


def rows(num_rows: int = 40) -> Data:
    random = np.random.default_rng(0)
    x = random.normal(size=(num_rows, 3))
    return Data(x, x @ np.array([1.0, -0.5, 0.2]) + 0.1 + NOISE * random.normal(size=num_rows))


def linear_posterior(data: Data, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and precision of the weights, the bias last, under N(0, scale^2)."""
    features = np.column_stack([data.x, np.ones(len(data))])
    precision = features.T @ features / NOISE**2 + np.eye(4) / scale**2
    return np.linalg.solve(precision, features.T @ data.y / NOISE**2), precision


def test_mfvi_on_a_linear_model_is_the_diagonal_of_the_conjugate_posterior() -> None:
    data = rows()
    prior = BayesianNetwork.prior(MLP(()), data.x, scale=0.8, dtype=jnp.float64)
    training = Training(num_steps=3000, optimizer=Adam(3e-2), evaluate_every=1000)
    method = MFVI(training=training, num_samples=16, fixed=lambda model: model.likelihood)
    function = method(Model(prior, Normal(NOISE)), data, key=jax.random.key(0)).posterior.function
    mean, precision = linear_posterior(data, 0.8)
    np.testing.assert_allclose(np.ravel(function.params[0]), mean, atol=5e-3)
    # The best independent Gaussian has the diagonal of the precision, not of the covariance.
    std = np.exp(np.ravel(function.state[0]))
    np.testing.assert_allclose(std, np.diagonal(precision) ** -0.5, rtol=0.03)


@pytest.mark.parametrize("scale", [0.2, 0.5, 1.0, 2.0])
def test_a_learned_prior_scale_is_better_than_any_given_one(scale: float) -> None:
    q = random_network(0)
    p = BayesianNetwork.prior(q.network, np.zeros((4, 2)), scale=scale, dtype=jnp.float64)
    assert weight_kl(q, p, learn_scale=True) < weight_kl(q, p)


@double
def random_network(seed: int, scale: float = 0.3) -> BayesianNetwork:
    key = jax.random.key(seed)
    network, covariance = MLP((6, 5)), Diagonal()
    params = network.init(jnp.zeros((4, 2)), key=key, dtype=jnp.float64)
    state = covariance.init(params, key=key)
    keys = jax.random.split(key, len(state))
    state = tuple(
        jnp.log(scale) + 0.5 * jax.random.normal(k, s.shape)
        for k, s in zip(keys, state, strict=True)
    )
    return BayesianNetwork(network, covariance, params, state)


@double
@eqx.filter_jit
def compiled_divergence(q: BayesianNetwork, p: BayesianNetwork, x: np.ndarray) -> jax.Array:
    return linearized_kl(q, p, x, gamma=1e-10).value


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 100), num_points=st.sampled_from([1, 30]), scale=st.floats(0.05, 2.0))
def test_tfsvi_divergence_is_at_most_the_divergence_of_the_weights(
    seed: int, num_points: int, scale: float
) -> None:
    q = random_network(seed)
    p = BayesianNetwork.prior(q.network, np.zeros((4, 2)), scale=scale, dtype=jnp.float64)
    x = np.random.default_rng(seed).normal(size=(num_points, 2))
    divergence = float(compiled_divergence(q, p, x))
    assert 0 <= divergence <= float(weight_kl(q, p)) * (1 + 1e-6)


def test_tfsvi_divergence_reaches_that_of_the_weights_where_points_tell_them_apart() -> None:
    q = dataclasses.replace(random_network(0), network=MLP(()), params=(jnp.ones((3, 1)),))
    q = dataclasses.replace(q, state=(jnp.full((3, 1), -1.0),))
    p = BayesianNetwork.prior(MLP(()), np.zeros((4, 2)), scale=0.7, dtype=jnp.float64)
    x = np.random.default_rng(0).normal(size=(3, 2))
    divergence = float(linearized_kl(q, p, x, gamma=1e-14).value)
    np.testing.assert_allclose(divergence, float(weight_kl(q, p)), rtol=1e-6)


@double
def test_tfsvi_holds_the_map_from_weights_to_functions_fixed_while_weights_move() -> None:
    q, gamma, scale = random_network(0), 1e-4, 0.7
    p = BayesianNetwork.prior(q.network, np.zeros((4, 2)), scale=scale, dtype=jnp.float64)
    x = np.random.default_rng(0).normal(size=(5, 2))
    weights, restore = ravel_pytree(q.params)

    def divergence(weights: jax.Array) -> jax.Array:
        moved = dataclasses.replace(q, params=restore(weights))
        return linearized_kl(moved, p, x, gamma=gamma).value

    jacobian = jax.jacrev(lambda w: q.network.apply(restore(w), x)[:, 0])(weights)
    prior_cov = scale**2 * jacobian @ jacobian.T + gamma * len(x) * np.eye(len(x))
    expected = jacobian.T @ np.linalg.solve(prior_cov, jacobian @ weights)
    np.testing.assert_allclose(jax.grad(divergence)(weights), expected, rtol=1e-6, atol=1e-9)


def feature_model(num_features: int = 12) -> Model:
    source = dataclasses.replace(random_network(1), num_samples=num_features)
    zeros = jnp.zeros((1, num_features))
    function = FeatureFunction(
        source, jax.random.key(3), zeros, jnp.zeros((1, *zeros.shape[1:] * 2))
    )
    return Model(function, Normal(NOISE))


@double
def test_vip_with_exact_coefficients_is_bayesian_linear_regression() -> None:
    random = np.random.default_rng(0)
    data = Data(random.normal(size=(30, 2)), random.normal(size=30))
    model = feature_model()
    mean, features = map(np.asarray, model.function.features(data.x))
    phi = features[0].T
    precision = phi.T @ phi / NOISE**2 + np.eye(phi.shape[1])
    coefficients = np.linalg.solve(precision, phi.T @ (data.y - mean[0]) / NOISE**2)
    exact = with_exact_coefficients(model, data).function
    np.testing.assert_allclose(exact.coefficients[0], coefficients, rtol=1e-8)
    lower = np.asarray(exact.lower[0])
    np.testing.assert_allclose(lower @ lower.T, np.linalg.inv(precision), rtol=1e-8, atol=1e-12)


@pytest.mark.slow
def test_the_optimum_of_vip_is_bayesian_linear_regression() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, size=(40, 1))
    data = Data(x, np.sin(3 * x[:, 0]) + NOISE * random.normal(size=40))
    prior = BayesianNetwork.prior(MLP((10,)), x, dtype=jnp.float64)
    training = Training(num_steps=6000, optimizer=Adam(5e-2), evaluate_every=2000)
    method = VIP(
        num_features=8,
        training=training,
        fixed=lambda model: (model.function.source, model.likelihood),
    )
    fit = method(Model(prior, Normal(NOISE)), data, key=jax.random.key(0))
    exact = double(with_exact_coefficients)(fit.posterior, data)
    grid = np.linspace(-1, 1, 9)[:, None]
    learned, closed = fit.posterior.predict(grid), exact.predict(grid)
    np.testing.assert_allclose(learned.mean, closed.mean, atol=2e-3)
    np.testing.assert_allclose(learned.epistemic_std, closed.epistemic_std, rtol=0.02)


def test_vip_with_many_features_is_the_posterior_of_the_process_it_draws_from() -> None:
    # Functions linear in their weights are Gaussian: phi phi^T converges to their covariance.
    random = np.random.default_rng(0)
    data = Data(random.normal(size=(8, 2)), random.normal(size=8))
    new = random.normal(size=(5, 2))
    source = BayesianNetwork.prior(MLP(()), data.x, dtype=jnp.float64)
    many = 1000
    zeros = jnp.zeros((1, many), jnp.float64)
    function = FeatureFunction(
        dataclasses.replace(source, num_samples=many),
        jax.random.key(0),
        zeros,
        jnp.zeros((1, many, many)),
    )
    predicted = double(with_exact_coefficients)(Model(function, Normal(NOISE)), data).predict(new)
    with_one = [np.column_stack([x, np.ones(len(x))]) for x in (data.x, new)]
    gram = with_one[0] @ with_one[0].T + NOISE**2 * np.eye(8)
    cross = with_one[1] @ with_one[0].T
    mean = cross @ np.linalg.solve(gram, data.y)
    cov = with_one[1] @ with_one[1].T - cross @ np.linalg.solve(gram, cross.T)
    np.testing.assert_allclose(predicted.mean, mean, atol=0.08)
    np.testing.assert_allclose(predicted.epistemic_std, np.sqrt(np.diagonal(cov)), rtol=0.12)


@double
def test_coefficients_of_the_prior_are_at_no_distance_from_it() -> None:
    assert float(coefficient_kl(feature_model().function)) == pytest.approx(0, abs=1e-12)


@double
def test_local_reparameterisation_has_the_moments_of_sampled_weights() -> None:
    network = dataclasses.replace(random_network(0), num_samples=4000)
    x = np.random.default_rng(0).normal(size=(3, 2))
    alone = network.marginals(x, key=jax.random.key(1))
    together = network.at(x, key=jax.random.key(2))
    error = np.sqrt(np.asarray(together.variance) / 4000)
    assert np.all(np.abs(np.asarray(alone.mean - together.mean)) < 5 * error)
    np.testing.assert_allclose(alone.variance, together.variance, rtol=0.15)


def test_a_prior_over_weights_needs_a_positive_scale() -> None:
    with pytest.raises(ValueError, match="positive scale; got -1"):
        BayesianNetwork.prior(MLP(()), np.zeros((2, 1)), scale=-1)
