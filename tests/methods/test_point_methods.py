import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.covariances import Diagonal, Full, LastLayer, RotatedDiagonal
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.methods import MAP, DeepEnsemble, Laplace
from gfsvi.networks import MLP
from gfsvi.training import Adam

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(40, 1))
DATA = Data(X, np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=40))
NETWORK = MLP((10, 10))
MODEL = Model(BayesianNetwork.prior(NETWORK, X), Normal(0.1))
SHORT = Training(num_steps=200, optimizer=Adam(1e-2), evaluate_every=50)
METHODS = [MAP(SHORT), DeepEnsemble(3, SHORT), Laplace(training=SHORT, num_rounds=2)]


def names(method) -> str:
    return type(method).__name__


def test_map_of_a_linear_network_is_ridge_regression(key):
    random = np.random.default_rng(1)
    x = random.normal(size=(12, 2))  # so few that none is held out, and the noise stays
    y = x @ np.array([0.7, -0.4]) + 0.2 + 0.5 * random.normal(size=12)
    model = Model(BayesianNetwork.prior(MLP(()), x, scale=0.7, dtype=jnp.float64), Normal(0.5))
    training = Training(num_steps=1500, optimizer=Adam(3e-2), evaluate_every=500)
    posterior = MAP(training)(model, Data(x, y), key=key).posterior
    features = np.column_stack([x, np.ones(12)])
    ridge = 0.5**2 / 0.7**2 * np.eye(3)
    weights = np.linalg.solve(features.T @ features + ridge, features.T @ y)
    np.testing.assert_allclose(posterior.predict(x).mean, features @ weights, atol=1e-5)
    assert float(posterior.likelihood.noise) == pytest.approx(0.5)
    assert np.all(posterior.predict(x).epistemic_variance == 0)


def test_members_agree_on_the_data_and_not_elsewhere(key):
    posterior = DeepEnsemble(4, SHORT)(MODEL, DATA, key=key).posterior
    far = np.array([[-4.0], [4.0]])
    near = posterior.predict(X).epistemic_std
    assert posterior.function.num_members == 4
    assert np.all(near > 0)
    assert np.all(posterior.predict(far).epistemic_std > 3 * np.mean(near))


def test_a_sampled_function_is_one_of_the_members(key):
    posterior = DeepEnsemble(3, SHORT)(MODEL, DATA, key=key).posterior
    draws = posterior.function.at(X).draws[:, 0]
    keys = jax.random.split(key, 30)
    sampled = [np.asarray(posterior.function.sample_function(key=k)(X)[:, 0]) for k in keys]
    closest = [int(np.argmin(np.max(np.abs(draws - f), axis=1))) for f in sampled]
    np.testing.assert_allclose(sampled, draws[jnp.asarray(closest)], atol=1e-5)
    assert set(closest) == {0, 1, 2}


@pytest.mark.parametrize("method", METHODS, ids=names)
def test_a_prior_over_functions_raises(method, key):
    sentence = rf"{names(method)} needs a prior over weights \(BayesianNetwork\); got Gaussian"
    with pytest.raises(TypeError, match=sentence):
        method(Model(GaussianProcess(RBF()), Normal()), DATA, key=key)


@pytest.mark.parametrize("method", METHODS, ids=names)
def test_outputs_that_do_not_fit_raise(method, key):
    model = Model(MODEL.function, Categorical())
    with pytest.raises(ValueError, match="needs 3 function outputs.*network with 1"):
        method(model, Data(X, np.arange(40) % 3), key=key)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=names)
def test_the_same_key_gives_the_same_posterior(method, key):
    first, second = (method(MODEL, DATA, key=key).posterior.predict(X) for _ in range(2))
    np.testing.assert_array_equal(first.mean, second.mean)
    other = method(MODEL, DATA, key=jax.random.key(1)).posterior.predict(X)
    assert not np.allclose(first.mean, other.mean)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=names)
def test_five_points_are_enough_and_the_noise_does_not_vanish(method, key):
    posterior = method(MODEL, DATA.take(np.arange(5)), key=key).posterior
    predictive = posterior.predict(X)
    assert np.all(np.isfinite(predictive.mean)) and np.all(predictive.std < 10)
    assert float(posterior.likelihood.noise) > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=names)
def test_classes_are_learned(method, key):
    x = np.random.default_rng(2).normal(size=(60, 2))
    labels = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)
    model = Model(BayesianNetwork.prior(MLP((10,), 3), x), Categorical())
    predictive = method(model, Data(x, labels), key=key).posterior.predict(x)
    assert np.mean(predictive.predicted == labels) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=names)
def test_nothing_needs_the_global_double_precision_setting(method, key):
    with jax.enable_x64(False):
        fit = method(MODEL, DATA, key=key)
        assert fit.posterior.predict(X).mean.dtype == np.float64
    leaves = jax.tree.leaves(fit.posterior.function.params)
    assert all(leaf.dtype == jnp.float32 for leaf in leaves)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[:2], ids=names)
def test_training_stops_when_held_out_rows_no_longer_improve(method, key):
    training = Training(num_steps=2000, optimizer=Adam(3e-2), evaluate_every=20, patience=3)
    # The more of the data is learned, the less probable is their opposite.
    opposite = Data(X, -DATA.y)
    fit = type(method)(training=training)(MODEL, DATA, key=key, validation=opposite)
    assert len(fit.history.steps["objective"]) == fit.history.best_step + 60 < 2000
    assert fit.history.scores.max() == fit.history.scores[fit.history.best_step // 20 - 1]


@pytest.mark.parametrize("method", METHODS, ids=names)
def test_validation_rows_set_the_noise(method, key):
    rows = Data(X, DATA.y + 0.5 * np.where(np.arange(40) % 2, 1, -1))
    posterior = method(MODEL, DATA, key=key, validation=rows).posterior
    values = posterior.function.marginals(X)
    wanted = np.sqrt(np.mean((rows.y - values.mean[0]) ** 2 + values.variance[0]))
    assert float(posterior.likelihood.noise) == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize(
    "structure", [RotatedDiagonal(), Diagonal(), LastLayer(), Full()], ids=lambda s: repr(s)[:9]
)
def test_laplace_knows_where_the_data_are(structure, key):
    training = Training(num_steps=1000, optimizer=Adam(1e-2), evaluate_every=250)
    fit = Laplace(structure, training, num_rounds=4)(MODEL, DATA, key=key)
    inside, outside = fit.posterior.predict(X), fit.posterior.predict(np.array([[-5.0], [5.0]]))
    assert np.mean((inside.mean - DATA.y) ** 2) < 0.03
    assert np.min(outside.epistemic_std) > 2 * np.mean(inside.epistemic_std)
    assert 0.05 < float(fit.posterior.likelihood.noise) < 0.2


def test_laplace_does_not_take_noise_for_signal(key):
    y = np.random.default_rng(3).normal(size=40)
    training = Training(num_steps=1500, optimizer=Adam(1e-2), evaluate_every=250)
    fit = Laplace(training=training, num_rounds=6)(MODEL, Data(X, y), key=key)
    assert float(fit.posterior.likelihood.noise) > 0.6


def test_whoever_watches_laplace_sees_one_run_and_can_stop_it(key):
    seen = []

    def watch(progress):
        seen.append((progress.step, progress.num_steps))
        return progress.step >= 300

    training = Training(num_steps=400, evaluate_every=50, watch=watch)
    fit = Laplace(training=training, num_rounds=4)(MODEL, DATA, key=key)
    assert seen == [(step, 400) for step in range(50, 301, 50)]
    assert len(fit.history.steps["objective"]) == 300


def test_an_empty_ensemble_raises():
    with pytest.raises(ValueError, match="at least one member; got num_members=0"):
        DeepEnsemble(0)
