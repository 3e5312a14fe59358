"""Each diagnostic fires for a fit that has its fault, under every likelihood of numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.kernels import RBF, White
from gfsvi.points import BatchRows, UniformBox
from gfsvi.training import Adam

from .cases import Case, X, changed, healthy_case, hurried_case

LIKELIHOODS = pytest.fixture(scope="module", params=["normal", "warped"])


@LIKELIHOODS
def healthy(request) -> Case:
    return healthy_case(request.param)


@LIKELIHOODS
def hurried(request) -> Case:
    return hurried_case(request.param)


def test_a_healthy_fit_has_nothing_to_report(healthy):
    assert healthy.found() == {}


def test_nothing_needs_the_global_double_precision_setting(healthy):
    with jax.enable_x64(False):
        assert healthy.found() == {}


def test_a_network_of_two_units_cannot_express_a_wiggly_prior(hurried):
    found = hurried.found()["network_cannot_express_prior"]
    assert found.severity == "warning" and "hidden" in found.remedy


def test_a_training_cut_short_was_still_improving(hurried):
    found = hurried.found()["still_improving"]
    assert "validation score rose" in found.message and "all 20 steps" in found.message
    assert "num_steps" in found.remedy


def test_five_points_are_too_few_for_a_short_length_scale(healthy):
    method = changed(healthy.method, points=UniformBox(5))
    short, long = healthy.with_kernel(RBF(0.1)), healthy.with_kernel(RBF(2.0))
    found = healthy.found(prior=short, method=method)
    assert "all 5 of them" in found["too_few_points"].message
    assert "num_points" in found["too_few_points"].remedy
    assert "too_few_points" not in healthy.found(prior=short)
    assert "too_few_points" not in healthy.found(method=method, prior=long)


def test_batches_of_a_sorted_table_are_taken_from_all_of_it(healthy):
    data = healthy.data.take(np.argsort(X[:, 0]))
    training = Training(optimizer=Adam(batch_size=10))
    method = changed(healthy.method, points=BatchRows(10), training=training)
    prior = healthy.with_kernel(RBF(0.3))
    assert "too_few_points" not in healthy.found(prior=prior, data=data, method=method)


def test_a_divergence_that_changes_with_the_points_is_reported(healthy):
    history = healthy.fit.history
    steps = np.random.default_rng(0).lognormal(size=len(history.steps["divergence"]))
    unsteady = changed(history, steps={**history.steps, "divergence": 10 * steps})
    assert "unsteady_divergence" in healthy.found(history=unsteady)


def test_a_divergence_that_falls_steadily_is_not_unsteady(healthy):
    history = healthy.fit.history
    falling = np.geomspace(1e3, 1, len(history.steps["divergence"]))
    steady = changed(history, steps={**history.steps, "divergence": falling})
    assert "unsteady_divergence" not in healthy.found(history=steady)


def test_a_large_gamma_weakens_the_prior(healthy):
    found = healthy.found(method=changed(healthy.method, gamma=1e-3))["gamma_too_large"]
    assert "gamma = 0.001 at 60 points" in found.message
    suggested = float(found.remedy.split()[3])
    assert "gamma_too_large" not in healthy.found(method=changed(healthy.method, gamma=suggested))


@pytest.mark.parametrize(("noise", "fires"), [(0.01, True), (0.03, False)])
def test_gamma_is_too_large_where_it_adds_more_than_the_noise(healthy, noise, fires):
    # It adds 60 gamma = 3e-4: less than a hundredth of the prior's variance, more than 0.01^2.
    method = changed(healthy.method, gamma=5e-6)
    found = healthy.found(method=method, posterior=healthy.with_noise(noise))
    assert ("gamma_too_large" in found) == fires


def test_a_tiny_gamma_is_lost_in_rounding(healthy):
    found = healthy.found(method=changed(healthy.method, gamma=1e-17))["gamma_too_small"]
    assert "dtype=jnp.float64" in found.remedy
    suggested = float(found.remedy.split()[3])
    assert "gamma_too_small" not in healthy.found(method=changed(healthy.method, gamma=suggested))
    double = changed(healthy.method, gamma=1e-14, dtype=jnp.float64)
    assert "gamma_too_small" not in healthy.found(method=double)


def test_a_pivot_below_what_gamma_adds_is_reported(healthy):
    history = healthy.fit.history
    pivots = np.full_like(history.steps["smallest_pivot"], 1e-12)
    history = changed(history, steps={**history.steps, "smallest_pivot": pivots})
    assert "smallest was 1e-12" in healthy.found(history=history)["gamma_too_small"].message


@pytest.mark.parametrize(
    ("noise", "words"),
    [(1e-5, "of the target's"), (0.03, "errors on the training rows are"), (0.15, None)],
)
def test_noise_far_below_the_errors_has_collapsed(healthy, noise, words):
    found = healthy.found(posterior=healthy.with_noise(noise))
    assert ("noise_collapsed" in found) == (words is not None)
    assert words is None or words in found["noise_collapsed"].message


def test_noise_that_fell_far_below_the_prior_s_needs_validation_rows(healthy):
    prior = Model(healthy.prior.function, changed(healthy.prior.likelihood, noise=np.array(5.0)))
    assert "no validation rows" in healthy.found(prior=prior)["noise_collapsed"].message
    checked = changed(healthy.fit.history, scores=np.ones(5), score_steps=50 * np.arange(1, 6))
    assert "noise_collapsed" not in healthy.found(prior=prior, history=checked)


def test_a_flat_mean_under_large_noise_has_lost_the_signal(healthy):
    function = healthy.fit.posterior.function
    flat = changed(function, params=jax.tree.map(jnp.zeros_like, function.params))
    noisy = healthy.with_noise(1.0).likelihood
    found = healthy.found(posterior=Model(flat, noisy))
    assert "varies by 0 " in found["noise_swallowed_signal"].message
    assert "noise_collapsed" not in found


def test_a_very_long_length_scale_is_noted_with_the_feature_s_name(healthy):
    prior = healthy.with_kernel(RBF(500.0))
    found = healthy.found(prior=prior, feature_names=["depth"])["features_ignored"]
    assert found.severity == "note" and "depend on depth:" in found.message
    assert "depend on x1:" in healthy.found(prior=prior)["features_ignored"].message


@pytest.mark.parametrize("kernel", [RBF(1e-4), White()], ids=["short", "white"])
def test_a_prior_without_neighbours_is_like_white_noise(healthy, kernel):
    assert "prior_is_white_noise" in healthy.found(prior=healthy.with_kernel(kernel))


def test_repeated_rows_do_not_hide_a_prior_like_white_noise(healthy):
    twice = Data(np.repeat(X[:20], 2, axis=0), healthy.data.y)
    prior = healthy.with_kernel(RBF(1e-4))
    assert "prior_is_white_noise" in healthy.found(prior=prior, data=twice)


@pytest.mark.parametrize(("variance", "word"), [(1e4, "wider"), (1e-4, "narrower")])
def test_a_prior_of_another_size_than_the_target_is_noted(healthy, variance, word):
    prior = healthy.with_kernel(RBF(0.7, variance=variance))
    found = healthy.found(prior=prior)["prior_out_of_scale"]
    assert word in found.title and found.severity == "note"


def test_a_prior_is_not_too_narrow_for_a_target_that_is_noise(healthy):
    prior = healthy.with_kernel(RBF(0.7, variance=1e-4))
    found = healthy.found(prior=prior, posterior=healthy.with_noise(1.0))
    assert "prior_out_of_scale" not in found


def test_warnings_come_before_notes_and_each_is_one_sentence(healthy):
    method = changed(healthy.method, gamma=1e-17)
    found = list(healthy.found(prior=healthy.with_kernel(RBF(500.0)), method=method).values())
    assert [diagnostic.severity for diagnostic in found] == ["warning", "note"]
    for diagnostic in found:
        sentence = str(diagnostic)
        assert sentence.startswith(f"{diagnostic.severity}: ") and sentence.endswith(".")
        assert ". " not in sentence and "\n" not in sentence
