"""The closed form of a convolutional network: its last layer, and what held-out images keep."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.data import Data
from gfsvi.functions import GaussianProcess
from gfsvi.functions.tangents import LastLayerTangents, Tangents
from gfsvi.inference.conjugate import (
    LOG_OF_NOTHING,
    Interpolation,
    posterior_of,
    solved,
    sums_over_rows,
    tangents_of,
)
from gfsvi.inference.conjugate_fit import natural_gradient_posterior
from gfsvi.inference.evaluation import evaluation_of
from gfsvi.inference.tempering import (
    STEPS,
    TEMPERATURES,
    Tempering,
    most_probable_tempering,
    sharpened,
)
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Categorical
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.networks import CNN

NETWORK = CNN(channels=(2, 3), hidden=4, outputs=3)
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 8, 8, 1))
PRIOR = GaussianProcess(RBF(6.0, 2.0), outputs=3)


@pytest.fixture(scope="module")
def params():
    drawn = NETWORK.init(jnp.asarray(X, jnp.float32), key=jax.random.key(0))
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), drawn)


@pytest.fixture(scope="module")
def interpolation(params) -> Interpolation:
    return Interpolation.at(tangents_of(NETWORK, params, 3), PRIOR, X[:12], gamma=1e-10)


@pytest.fixture(scope="module")
def solution(interpolation):
    targets = GaussianTargets(RANDOM.normal(size=(3, 40)), np.full((3, 40), 0.3))
    return solved(interpolation, sums_over_rows(interpolation, X, targets))


def test_the_last_layer_is_all_layers_of_which_only_the_last_moves(params):
    scales = [jnp.full((), LOG_OF_NOTHING) for _ in params[:-1]]
    with jax.enable_x64(True):
        every = Tangents(NETWORK, params, (*scales, jnp.zeros(())))
        values, expected = every.at(X[:7]), every.marginals(X[:7])
    last = tangents_of(NETWORK, params, 3)
    assert isinstance(last, LastLayerTangents)
    found, marginals = last.at(X[:7]), last.marginals(X[:7])
    np.testing.assert_allclose(found.mean, values.mean, atol=1e-12)
    assert found.cov.shape == (1, 7, 7)
    np.testing.assert_allclose(np.broadcast_to(found.cov, (3, 7, 7)), values.cov, atol=1e-10)
    np.testing.assert_allclose(marginals.cov, expected.cov, atol=1e-10)


def test_rows_in_blocks_are_rows_at_once(params, monkeypatch):
    evaluation = evaluation_of(tangents_of(NETWORK, params, 3), PRIOR, X[:12])
    once = evaluation.at_rows(X)
    monkeypatch.setattr("gfsvi.inference.evaluation.MAX_ROWS", 16)
    for mine, other in zip(evaluation.at_rows(X), once, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-10)


def test_the_temperature_multiplies_covariances_and_the_step_what_the_mean_moves(
    interpolation, solution
):
    whole = posterior_of(interpolation, solution)
    half = posterior_of(interpolation, solution, step=0.5, temperature=0.3)
    network = np.asarray(interpolation.tangents.at(X).mean)
    moved = np.asarray(whole.at(X).mean) - network
    np.testing.assert_allclose(half.at(X).mean, network + 0.5 * moved, atol=1e-9)
    np.testing.assert_allclose(half.at(X).cov, 0.3 * whole.at(X).cov, atol=1e-9)
    np.testing.assert_allclose(
        half.marginals(X).variance, 0.3 * whole.marginals(X).variance, atol=1e-9
    )


def test_held_out_rows_choose_among_all_steps_and_temperatures():
    """Against probabilities by two million draws."""
    labels = RANDOM.integers(0, 3, 30)
    f, move = 2 * np.eye(3)[labels].T + RANDOM.normal(size=(3, 30)), RANDOM.normal(size=(3, 30))
    variance = RANDOM.uniform(0.5, 3.0, size=(3, 30))
    likelihood = Categorical(3)
    found = most_probable_tempering(likelihood, Data(np.zeros((30, 1)), labels), f, move, variance)
    noise = np.random.default_rng(1).normal(size=(20_000, 3, 30))

    def score(tempering: Tempering) -> float:
        draws = f + tempering.step * move + np.sqrt(tempering.temperature * variance) * noise
        shares = np.exp(draws - np.log(np.sum(np.exp(draws), axis=1, keepdims=True)))
        return float(np.mean(np.log(np.mean(shares[:, labels, np.arange(30)], axis=0))))

    best = max(score(Tempering(s, t)) for s in STEPS for t in TEMPERATURES)
    assert score(found) > best - 0.01
    assert found != Tempering()


def test_images_that_a_network_knows_better_than_the_process_keep_its_mean(params):
    """Labels are what the network says; the process, without its pixels, knows nothing of them."""
    sure = (*params[:-1], 40 * params[-1])
    y = np.argmax(np.asarray(NETWORK.apply(sure, jnp.asarray(X))), axis=1)
    prior = Model(dataclasses.replace(PRIOR, kernel=RBF(0.1, 50.0)), Categorical(3))
    tangents = tangents_of(NETWORK, sure, 3)
    interpolation = Interpolation.at(tangents, prior.function, X[:10], gamma=1e-10)
    train, held_out = Data(X[:20], y[:20]), Data(X[20:], y[20:])
    kept = natural_gradient_posterior(interpolation, prior, train, held_out=held_out)
    whole = natural_gradient_posterior(interpolation, prior, train)

    def log_density(model: Model) -> float:
        return float(np.mean(np.asarray(model.predict(X[20:]).log_prob(y[20:]))))

    assert log_density(kept) > log_density(whole) + 0.1
    assert np.max(kept.function.marginals(X[20:]).variance) < 1


def test_a_last_layer_is_multiplied_until_held_out_labels_are_most_probable(params):
    unsure = (*params[:-1], 3 * params[-1])
    logits = 2 * np.asarray(NETWORK.apply(unsure, jnp.asarray(X)))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    random = np.random.default_rng(2)
    y = np.array([random.choice(3, p=share) for share in np.repeat(shares, 25, axis=0)])
    held_out = Data(np.repeat(X, 25, axis=0), y)
    found = sharpened(LastLayerTangents(NETWORK, unsure), Categorical(3), held_out)
    factor = found.params[-1][0, 0] / unsure[-1][0, 0]
    np.testing.assert_allclose(found.params[-1], factor * unsure[-1])

    def density(times: float) -> float:
        scaled = times * logits / 2
        log_shares = scaled - np.log(np.sum(np.exp(scaled), axis=1, keepdims=True))
        return float(np.mean(np.repeat(log_shares, 25, axis=0)[np.arange(1000), y]))

    assert density(factor) > max(density(t) for t in np.linspace(0.5, 2.7, 100)) - 1e-6
    assert factor == pytest.approx(2, rel=0.2)  # which the labels were drawn with
    assert sharpened(found, Categorical(3), None) is found
