"""What the predictive distribution of every likelihood promises."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.predictives import CategoricalPredictive, NormalPredictive, WarpedPredictive
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.values import AbstractValues, Samples

from .likelihood_cases import (
    CLASSES,
    NUM_POINTS,
    built,
    many_draws,
    marginals,
    observations_for,
    samples,
)


@pytest.fixture(params=CLASSES, ids=lambda member: member.__name__, scope="module")
def likelihood(request: pytest.FixtureRequest) -> AbstractLikelihood:
    return built(request.param)


@pytest.fixture(scope="module")
def y(likelihood: AbstractLikelihood) -> np.ndarray:
    return observations_for(likelihood)


@pytest.fixture(params=[marginals, samples], ids=lambda make: make.__name__, scope="module")
def predicted(request, likelihood, y) -> tuple[AbstractValues, AbstractPredictive]:
    values = request.param(likelihood.num_outputs(y))
    predict = eqx.filter_jit(lambda v: likelihood.predict(v, key=jax.random.key(0)))
    return values, predict(values)


def test_jit_changes_nothing(likelihood, y, predicted):
    values, jitted = predicted
    key = jax.random.key(0)
    compiled = eqx.filter_jit(lambda v: likelihood.expected_log_prob(y, v, key=key))(values)
    plain = likelihood.expected_log_prob(y, values, key=key)
    np.testing.assert_allclose(compiled, plain, rtol=1e-10, atol=1e-12)
    plain = likelihood.predict(values, key=key)
    np.testing.assert_allclose(plain.log_prob(y), jitted.log_prob(y), rtol=1e-10, atol=1e-12)


def test_expected_log_prob_never_exceeds_the_log_predictive_density(y, predicted):
    _, predictive = predicted
    assert np.all(predictive.expected_log_prob(y) <= predictive.log_prob(y) + 1e-12)


def test_the_predictive_agrees_with_a_monte_carlo_mixture(likelihood, y, predicted):
    values, predictive = predicted
    log_probs = np.asarray(
        jax.vmap(lambda f: likelihood.log_prob(y, f))(many_draws(values, 100_000))
    )
    expected, spread = np.mean(log_probs, axis=0), np.std(log_probs, axis=0)
    # A predictive may rest on as few as 100 draws of its own.
    assert np.all(np.abs(predictive.expected_log_prob(y) - expected) < 4.5 * spread / 10)
    if isinstance(values, Samples) and isinstance(predictive, (NormalPredictive, WarpedPredictive)):
        return  # these keep only mean and variance of the samples
    density, spread = np.mean(np.exp(log_probs), axis=0), np.std(np.exp(log_probs), axis=0)
    assert np.all(np.abs(np.exp(predictive.log_prob(y)) - density) < 4.5 * spread / 10 + 1e-6)


def test_uncertainty_has_an_epistemic_and_an_aleatoric_part(predicted):
    _, predictive = predicted
    if isinstance(predictive, AbstractRealPredictive):
        parts = predictive.epistemic_variance + predictive.aleatoric_variance
        np.testing.assert_allclose(predictive.variance, parts)
        np.testing.assert_allclose(np.square(predictive.std), parts)
        assert np.all(predictive.epistemic_variance > 0)
        assert np.all(predictive.aleatoric_variance > 0)
    else:
        assert isinstance(predictive, CategoricalPredictive)
        assert np.all(predictive.mutual_information > 0)
        assert np.all(predictive.mutual_information < predictive.entropy)


def test_quantiles_rise_and_hold_their_share_of_samples(predicted, key):
    values, predictive = predicted
    if isinstance(values, Samples) or not isinstance(predictive, AbstractRealPredictive):
        pytest.skip("one kind of values is enough, and labels have no quantiles")
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    quantiles = np.asarray(predictive.quantile(levels))
    assert quantiles.shape == (5, NUM_POINTS)
    assert np.all(np.diff(quantiles, axis=0) >= 0)
    draws = np.asarray(predictive.sample(2000, key=key))
    below, through = draws[:, None] < quantiles, draws[:, None] <= quantiles
    assert np.all(np.mean(below, axis=0) < levels[:, None] + 0.07)
    assert np.all(np.mean(through, axis=0) > levels[:, None] - 0.07)


def test_samples_have_the_moments_of_the_predictive(predicted, key):
    values, predictive = predicted
    if isinstance(values, Samples):
        pytest.skip("one kind of values is enough")
    draws = np.asarray(predictive.sample(2000, key=key))
    assert draws.shape == (2000, NUM_POINTS)
    if isinstance(predictive, AbstractRealPredictive):
        error = np.abs(np.mean(draws, axis=0) - predictive.mean)
        assert np.all(error < 4.5 * np.asarray(predictive.std) / np.sqrt(2000))
        assert np.all(np.abs(np.var(draws, axis=0) / predictive.variance - 1) < 0.4)
    else:
        labels = np.arange(predictive.probabilities.shape[-1])
        shares = np.mean(draws[..., None] == labels, axis=0)
        np.testing.assert_allclose(shares, predictive.probabilities, atol=0.05)


def test_probabilities_add_up_to_one(likelihood, predicted):
    _, predictive = predicted

    def densities(grid: np.ndarray) -> np.ndarray:
        return np.exp(jax.lax.map(lambda y: predictive.log_prob(jnp.full(NUM_POINTS, y)), grid))

    if isinstance(predictive, CategoricalPredictive):
        total = np.sum(densities(np.arange(predictive.probabilities.shape[-1])), axis=0)
    elif likelihood.discrete:
        total = np.sum(densities(np.arange(300.0)), axis=0)
    else:
        grid = np.linspace(-40, 40, 8_001)
        total = np.trapezoid(densities(grid), grid, axis=0)
    np.testing.assert_allclose(total, 1, atol=2e-4)


class Fixed(AbstractRandomFunction):
    """A function whose values are given, whatever the points."""

    values: AbstractValues

    def at(self, x: Any, *, key: Any = None) -> AbstractValues:
        return self.values

    def marginals(self, x: Any, *, key: Any = None) -> AbstractValues:
        return self.values


def test_predictions_are_double_where_the_session_is_single(likelihood, y, key):
    values = jax.tree.map(np.asarray, marginals(likelihood.num_outputs(y)))
    x = np.zeros((NUM_POINTS, 1))
    with jax.enable_x64(False):
        predictive = Model(Fixed(values), likelihood).predict(x, key=key)
        public = [name for name in dir(type(predictive)) if not name.startswith("_")]
        arrays = [getattr(predictive, name) for name in public]
        arrays += [predictive.log_prob(y), predictive.expected_log_prob(y)]
        arrays += [predictive.sample(3, key=key)]
        if isinstance(predictive, AbstractRealPredictive):
            arrays += [predictive.quantile(0.1), predictive.rescaled(2.0, 1.0).std]
        arrays = [array for array in arrays if hasattr(array, "dtype")]
    kinds = {str(array.dtype) for array in arrays if jnp.issubdtype(array.dtype, jnp.floating)}
    assert kinds == {"float64"}
    double = Model(Fixed(values), likelihood).predict(x, key=key)
    np.testing.assert_allclose(predictive.log_prob(y), double.log_prob(y), rtol=1e-12)
