"""Predictive distributions: units, layouts, intervals and labels."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from gfsvi.likelihoods import HeteroscedasticNormal, Normal, Poisson, StudentT
from gfsvi.predictives import CategoricalPredictive, MixturePredictive, NormalPredictive
from gfsvi.predictives.base import library_layout, user_layout
from gfsvi.values import Samples

RANDOM = np.random.default_rng(0)
DRAWS = jnp.asarray(RANDOM.standard_normal((40, 1, 6)))
TWO_OUTPUTS = jnp.asarray(RANDOM.standard_normal((40, 2, 6)))


def normal() -> NormalPredictive:
    return NormalPredictive(np.linspace(-1, 1, 6), np.full(6, 0.3), np.full(6, 0.05))


def mixture() -> MixturePredictive:
    return MixturePredictive.of(StudentT(0.3, 5.0), DRAWS)


def test_layouts_undo_each_other():
    y = RANDOM.standard_normal((6, 2))
    np.testing.assert_array_equal(user_layout(library_layout(y)), y)
    np.testing.assert_array_equal(user_layout(library_layout(y[:, 0])), y[:, 0])


@pytest.mark.parametrize("make", [normal, mixture])
@pytest.mark.parametrize(("scale", "shift"), [(2.5, -1.0), (-0.4, 3.0)])
def test_a_change_of_units_moves_everything_along(make, scale, shift):
    plain, y = make(), np.linspace(-0.5, 1.5, 6)
    other = plain.rescaled(scale, shift)
    np.testing.assert_allclose(other.mean, scale * plain.mean + shift)
    np.testing.assert_allclose(other.std, abs(scale) * plain.std)
    np.testing.assert_allclose(other.epistemic_std, abs(scale) * plain.epistemic_std)
    # p(scale y + shift) |scale| = p(y)
    moved = scale * y + shift
    jacobian = np.log(abs(scale))
    np.testing.assert_allclose(other.log_prob(moved) + jacobian, plain.log_prob(y))
    np.testing.assert_allclose(
        other.expected_log_prob(moved) + jacobian, plain.expected_log_prob(y)
    )
    level = 0.8 if scale > 0 else 0.2
    expected = scale * np.asarray(plain.quantile(level)) + shift
    np.testing.assert_allclose(other.quantile(0.8), expected, atol=1e-2 * abs(scale))


@pytest.mark.parametrize("scale", [2.5, -0.4])
def test_samples_move_with_a_change_of_units(scale, key):
    plain = np.asarray(mixture().sample(5, key=key))
    np.testing.assert_allclose(mixture().rescaled(scale, 3.0).sample(5, key=key), scale * plain + 3)


def test_changes_of_units_follow_one_another():
    once, twice = mixture().rescaled(6.0, 7.0), mixture().rescaled(2.0, 1.0).rescaled(3.0, 4.0)
    np.testing.assert_allclose(once.mean, twice.mean)
    np.testing.assert_allclose(once.log_prob(np.arange(6.0)), twice.log_prob(np.arange(6.0)))


def test_a_change_of_units_leaves_the_probability_of_a_count_alone():
    counts = np.arange(6)
    plain = MixturePredictive.of(Poisson(), DRAWS)
    np.testing.assert_allclose(
        plain.rescaled(10.0, 0.0).log_prob(10 * counts), plain.log_prob(counts)
    )


def test_several_responses_have_a_jacobian_each():
    f = jnp.concatenate([TWO_OUTPUTS, 0.1 * TWO_OUTPUTS], axis=1)
    plain = MixturePredictive.of(HeteroscedasticNormal(0.5), f)
    y, scale = RANDOM.standard_normal((6, 2)), np.array([2.0, 5.0])
    assert plain.mean.shape == (6, 2)
    assert plain.quantile([0.1, 0.9]).shape == (2, 6, 2)
    assert plain.sample(3, key=jax.random.key(0)).shape == (3, 6, 2)
    moved = plain.rescaled(scale, 1.0).log_prob(y * scale + 1)
    np.testing.assert_allclose(moved + np.log(10), plain.log_prob(y))


def test_one_output_may_be_observed_as_a_column():
    y = np.arange(6.0)
    for predictive in (normal(), mixture()):
        np.testing.assert_allclose(predictive.log_prob(y[:, None]), predictive.log_prob(y))


def test_a_mixture_of_normals_is_the_mixture_of_scipy():
    f = jnp.concatenate([DRAWS, jnp.zeros_like(DRAWS)], axis=1)
    predictive, y = MixturePredictive.of(HeteroscedasticNormal(0.5), f), np.linspace(-1, 1, 6)
    densities = scipy.stats.norm.pdf(y, np.asarray(DRAWS[:, 0]), 0.5)
    np.testing.assert_allclose(predictive.log_prob(y), np.log(densities.mean(axis=0)))
    expected = np.log(densities).mean(axis=0)
    np.testing.assert_allclose(predictive.expected_log_prob(y), expected)
    np.testing.assert_allclose(predictive.epistemic_variance, np.var(DRAWS[:, 0], axis=0))
    np.testing.assert_allclose(predictive.aleatoric_variance, 0.25)
    shares = [
        scipy.stats.norm.cdf(q, np.asarray(DRAWS[:, 0]), 0.5).mean(axis=0)
        for q in predictive.quantile(np.array([0.1, 0.5, 0.9]))
    ]
    np.testing.assert_allclose(np.mean(shares, axis=1), [0.1, 0.5, 0.9], atol=0.02)


def test_many_points_are_predicted_in_parts(monkeypatch):
    monkeypatch.setattr("gfsvi.predictives.mixture._NUM_POINTS", 4)
    quantiles = MixturePredictive.of(StudentT(1e-6), DRAWS).quantile(np.array([0.25, 0.75]))
    expected = np.quantile(DRAWS[:, 0], [0.25, 0.75], axis=0, method="inverted_cdf")
    np.testing.assert_allclose(quantiles, expected, atol=1e-3)


def test_intervals_hold_their_share_and_refuse_other_levels():
    low, high = normal().interval(0.5)
    np.testing.assert_allclose(high - low, 2 * 0.6744897501960817 * normal().std)
    with pytest.raises(ValueError, match="level between 0 and 1; got 95"):
        normal().interval(95)


def test_normal_likelihood_and_mixture_agree_on_samples(key):
    values = Samples(DRAWS)
    closed = Normal(0.5).predict(values, key=key)
    wide = jnp.concatenate([DRAWS, jnp.zeros_like(DRAWS)], axis=1)
    drawn = HeteroscedasticNormal(0.5).predict(Samples(wide), key=key)
    y = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(closed.mean, drawn.mean)
    np.testing.assert_allclose(closed.variance, drawn.variance)
    np.testing.assert_allclose(closed.expected_log_prob(y), drawn.expected_log_prob(y))


LABELS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])


def labels_predictive() -> CategoricalPredictive:
    draws = np.stack([LABELS, LABELS[:, ::-1]])
    return CategoricalPredictive(np.log(draws))


def test_class_probabilities_are_the_mean_of_the_draws():
    predictive = labels_predictive()
    np.testing.assert_allclose(predictive.probabilities, [[0.4, 0.2, 0.4], [0.1, 0.8, 0.1]])
    np.testing.assert_allclose(predictive.std, [[0.3, 0, 0.3], [0, 0, 0]], atol=1e-12)
    assert predictive.predicted[1] == 1
    np.testing.assert_allclose(predictive.log_prob(np.array([0, 1])), np.log([0.4, 0.8]))
    expected = [(np.log(0.7) + np.log(0.1)) / 2, np.log(0.8)]
    np.testing.assert_allclose(predictive.expected_log_prob(np.array([0, 1])), expected)


def test_entropy_splits_into_known_and_unknown():
    predictive = labels_predictive()
    total = scipy.stats.entropy([[0.4, 0.2, 0.4], [0.1, 0.8, 0.1]], axis=1)
    np.testing.assert_allclose(predictive.entropy, total)
    gap = total - scipy.stats.entropy(LABELS, axis=1)
    np.testing.assert_allclose(predictive.mutual_information, gap, atol=1e-12)
    assert predictive.mutual_information[1] == pytest.approx(0, abs=1e-12)


def test_a_hopeless_class_has_a_finite_log_probability():
    logits = jnp.array([[[0.0, -2000.0]]])
    predictive = CategoricalPredictive(jax.nn.log_softmax(logits))
    assert predictive.log_prob(np.array([1]))[0] == pytest.approx(-2000)
    assert predictive.entropy[0] == 0


def test_labels_are_drawn_by_their_probabilities(key):
    draws = np.asarray(labels_predictive().sample(5000, key=key))
    assert draws.shape == (5000, 2)
    np.testing.assert_allclose(np.mean(draws == 1, axis=0), [0.2, 0.8], atol=0.03)
