"""What makes GFSVI affordable for images changes its cost, not what it computes."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.covariances import Diagonal, Kronecker
from gfsvi.data import Data
from gfsvi.functions import BayesianNetwork, GaussianProcess, LinearizedNetwork
from gfsvi.inference.mean_fit import TrainedMean
from gfsvi.inference.outputs import some_outputs
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Categorical
from gfsvi.methods import GFSVI, TFSVI
from gfsvi.methods.gfsvi import RegularizedKL, Subsampling
from gfsvi.model import Model
from gfsvi.networks import CNN
from gfsvi.networks.jacobian import OuterJacobian
from gfsvi.points import BatchRows, Mixture, UniformBox
from gfsvi.training import Adam
from gfsvi.training.settings import Training

NUM_CLASSES = 3
NETWORK = CNN(channels=(2, 3), hidden=4, outputs=NUM_CLASSES, activation=jax.nn.silu)
POINTS = Mixture((BatchRows(3), UniformBox(2)))


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def images() -> Data:
    random = np.random.default_rng(0)
    y = np.arange(60) % NUM_CLASSES
    x = 0.3 * random.normal(size=(60, 8, 8, 1))
    for number in range(NUM_CLASSES):  # a bright line, in another place for each class
        x[y == number, 1 + 2 * number] += 1.5
    return Data(x, y)


def posterior(covariance, num_samples=None, scale=0.3) -> LinearizedNetwork:
    x, key = jnp.zeros((2, 8, 8, 1)), jax.random.key(0)
    params = NETWORK.init(x, key=key, dtype=jnp.float64)
    params = jax.tree.map(lambda leaf: leaf + 0.1 * jax.random.normal(key, leaf.shape), params)
    state = dataclasses.replace(covariance, initial_std=scale).init(params, key=key)
    return LinearizedNetwork(NETWORK, covariance, params, state, num_samples)


@pytest.mark.parametrize("covariance", [Diagonal(), Kronecker()], ids=["diagonal", "kronecker"])
def test_draws_have_the_mean_and_covariance_of_the_marginals(covariance, images):
    x = images.x[:2]
    exact = posterior(covariance).marginals(x)
    drawn = posterior(covariance, num_samples=10_000).marginals(x, key=jax.random.key(1))
    np.testing.assert_allclose(drawn.mean, exact.mean, atol=1e-10)  # mirrored draws
    deviations = drawn.draws - drawn.mean
    cov = jnp.einsum("sip,sjp->pij", deviations, deviations) / len(deviations)
    np.testing.assert_allclose(cov, exact.cov, atol=0.05 * float(jnp.max(exact.cov)))


def test_dense_layers_are_drawn_for_every_image_alone(images):
    x = jnp.concatenate([images.x[:1], images.x[:1]])
    draws = posterior(Diagonal(), num_samples=2).marginals(x, key=jax.random.key(1)).draws
    assert not np.allclose(draws[0, :, 0], draws[0, :, 1])


def test_divergences_of_single_outputs_add_up(images):
    function, prior = posterior(Diagonal()), GaussianProcess(RBF(3.0), outputs=NUM_CLASSES)
    model = Model(function, Categorical(NUM_CLASSES))
    points, key = POINTS.bind(images.x), jax.random.key(2)
    whole = _divergence(RegularizedKL(prior, points, 1e-6), model, images, key)
    x = points.draw(jnp.asarray(images.x), key=key)
    at = eqx.filter_jit(lambda outputs: function.at(x, outputs=outputs))
    singles = [at(jnp.eye(NUM_CLASSES)[number][None]) for number in range(NUM_CLASSES)]
    together = at(None)
    for number, single in enumerate(singles):
        np.testing.assert_allclose(single.mean[0], together.mean[number], atol=1e-12)
        np.testing.assert_allclose(single.cov[0], together.cov[number], atol=1e-12)
    some = RegularizedKL(prior, _Given(x), 1e-6, num_outputs=1)
    estimates = [_divergence(some, model, images, jax.random.key(seed)) for seed in range(40)]
    distinct = np.unique(np.round(np.array(estimates), 6))
    assert len(distinct) == NUM_CLASSES  # one for each output, times their number
    np.testing.assert_allclose(np.mean(distinct), whole, rtol=1e-6)


@eqx.filter_jit
def _divergence(divergence, model, data, key):
    return divergence(model, data, 1.0, key=key)[0]


class _Given(BatchRows):
    x: jax.Array

    def __init__(self, x):
        self.x = x
        self.num_points = len(x)

    def draw(self, batch, *, key):
        return self.x


def test_some_outputs_are_chosen_evenly_or_not_at_all():
    assert some_outputs(None, 3, key=jax.random.key(0)) is None
    assert some_outputs(3, 3, key=jax.random.key(0)) is None
    chosen = [np.asarray(some_outputs(2, 5, key=jax.random.key(k))) for k in range(200)]
    assert all(len(np.unique(pair)) == 2 for pair in chosen)
    assert np.bincount(np.concatenate(chosen), minlength=5).min() > 50


def test_the_gram_by_pairs_is_the_gram(monkeypatch):
    random = np.random.default_rng(0)
    inputs, signals = random.normal(size=(5, 7)), random.normal(size=(5, 3, 4))
    std = random.uniform(0.1, 1, size=(8, 4))
    jacobian = OuterJacobian(jnp.asarray(inputs), jnp.asarray(signals))
    rows = jacobian.multiplied_out().reshape(5, 3, 8, 4) * std
    expected = jnp.einsum("pkio,qkio->kpq", rows, rows)
    np.testing.assert_allclose(jacobian.scaled_gram(jnp.asarray(std), jacobian), expected)
    called = []
    monkeypatch.setattr(
        OuterJacobian, "_gram_by_pairs", lambda self, std: called.append(1) or expected
    )
    jacobian.scaled_gram(jnp.asarray(std), jacobian)
    assert called, "few points and several outputs are what it is for"


def test_one_output_after_the_other_is_the_same_gram(images, monkeypatch):
    function, x = posterior(Diagonal()), images.x[:4]
    whole = function.at(x).cov
    size = NETWORK.jacobian_size(function.params)
    monkeypatch.setattr(
        "gfsvi.networks.jacobian.BLOCK_ELEMENTS", 4 * size
    )  # one output at all points
    np.testing.assert_allclose(function.at(x).cov, whole, rtol=1e-10, atol=1e-12)
    monkeypatch.setattr("gfsvi.networks.jacobian.BLOCK_ELEMENTS", 2 * size)  # blocks of points
    np.testing.assert_allclose(function.at(x).cov, whole, rtol=1e-10, atol=1e-12)


def test_pixels_share_one_box():
    x = np.zeros((4, 3, 3, 1))
    x[:, 1, 1] = np.linspace(-1, 1, 4)[:, None]
    box = UniformBox(500).bind(x)
    drawn = np.asarray(box.draw(jnp.asarray(x), key=jax.random.key(0)))
    assert drawn.shape == (500, 3, 3, 1)
    assert np.all(drawn.min(axis=0) < -1.5) and np.all(drawn.max(axis=0) > 1.5)
    assert drawn.min() >= -2 and drawn.max() <= 2


@pytest.mark.parametrize("kind", [GFSVI, TFSVI])
def test_it_learns_images_by_draws_and_some_outputs(kind, images):
    training = Training(num_steps=60, optimizer=Adam(1e-2, batch_size=20), evaluate_every=30)
    common = {"points": POINTS, "training": training}
    if kind is GFSVI:
        warm_up = dataclasses.replace(training, num_steps=120)
        method = GFSVI(NETWORK, Diagonal(), mean=TrainedMean(warm_up), **common)
        method = dataclasses.replace(method, subsampling=Subsampling(2, 1))
        prior = GaussianProcess(RBF(6.0, 4.0), outputs=NUM_CLASSES)
    else:
        method = TFSVI(num_samples=2, num_outputs=1, **common)
        prior = BayesianNetwork.prior(NETWORK, images.x[:1], scale=0.5)
    model = Model(prior, Categorical(NUM_CLASSES))
    fit = method(model, images, key=jax.random.key(0), validation=images)
    predicted = np.asarray(fit.posterior.predict(images.x).predicted)
    assert np.mean(predicted == images.y) > 0.9
    if kind is GFSVI:  # draws were for training alone
        assert fit.posterior.function.num_samples is None
