"""Posteriors of networks that were trained elsewhere."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# Stubs of networks and posteriors are narrower than what they take.

import copy

import jax
import numpy as np
import pytest
from scipy.stats import norm
from sklearn.neural_network import MLPClassifier, MLPRegressor

from gfsvi import Data, condition_on, posterior_of
from gfsvi.functions import GaussianProcess
from gfsvi.inference.conjugate import Interpolation, solved, sums_over_rows, tangents_of
from gfsvi.inference.conjugate import posterior_of as solved_posterior
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.kernels import RBF, Matern32, Periodic
from gfsvi.likelihoods import Normal
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double

from .networks import DATA, NETWORKS, OURS, TRAINED, X, Y

NEW = np.random.default_rng(1).normal(size=(9, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def reference():
    return posterior_of(MLP((6,)), DATA, params=OURS)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_framework_gives_the_same_posterior(name, reference):
    network, params = NETWORKS[name]
    found = posterior_of(network, DATA, params=params).predict(NEW)
    np.testing.assert_allclose(found.mean, reference.predict(NEW).mean, atol=1e-5)
    np.testing.assert_allclose(found.std, reference.predict(NEW).std, rtol=1e-4)


def test_the_mean_is_what_the_network_predicts(reference):
    np.testing.assert_allclose(reference.predict(NEW).mean, TRAINED.predict(NEW), atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_weights_are_untouched(name):
    network, params = NETWORKS[name]
    content = params if params is not None else network
    if name == "scikit-learn":
        content = [network.coefs_, network.intercepts_]
    before = copy.deepcopy([np.asarray(leaf) for leaf in _arrays(content)])
    posterior_of(network, DATA, params=params, prior=RBF())
    after = [np.asarray(leaf) for leaf in _arrays(content)]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def _arrays(tree):
    from flax import nnx

    if isinstance(tree, nnx.Module):
        tree = nnx.state(tree)
    return [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "shape")]


@double
def test_the_spread_is_that_of_the_closed_form():
    likelihood, prior = Normal(0.2), GaussianProcess(Matern32(1.5))
    found = posterior_of(MLP((6,)), DATA, params=OURS, prior=prior, likelihood=likelihood)
    points = found.function.points
    interpolation = Interpolation.at(tangents_of(MLP((6,)), OURS), prior, points, gamma=1e-10)
    targets = Normal(found.likelihood.noise).gaussian_targets(Y)
    sums = sums_over_rows(interpolation, X, targets)
    expected = solved_posterior(interpolation, solved(interpolation, sums))
    np.testing.assert_allclose(
        found.function.marginals(NEW).variance, expected.marginals(NEW).variance, rtol=1e-9
    )


def test_the_mean_of_the_posterior_fits_the_rows_better(reference):
    moved = posterior_of(MLP((6,)), DATA, params=OURS, mean="posterior")
    errors = [np.mean((m.predict(X).mean - Y) ** 2) for m in (moved, reference)]
    assert errors[0] < errors[1]


def test_noise_is_that_around_what_is_predicted(reference):
    values = leave_one_out(reference, DATA)
    noise = np.ravel(reference.likelihood.noise)

    def density(factor):
        std = np.sqrt(values.variance[0] + (factor * noise) ** 2)
        return np.mean(norm.logpdf(Y, values.mean[0], std))

    moved = posterior_of(MLP((6,)), DATA, params=OURS, mean="posterior")
    assert np.max(np.abs(np.log(noise / np.ravel(moved.likelihood.noise)))) > 0.05
    assert 0.8 < max((0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0), key=density) < 1.25


def test_uncertainty_grows_away_from_the_rows(reference):
    near, far = (reference.predict(x).epistemic_std for x in (X, X + 20))
    assert np.min(far) > np.max(near)


def test_a_prior_is_chosen_in_the_units_of_the_network(reference):
    scale, unit = np.array([100.0, 0.01, 3.0]), 1000.0
    found = posterior_of(MLP((6,)), Data(X * scale, 7 + unit * Y), params=OURS).function.prior
    expected = reference.function.prior
    np.testing.assert_allclose(
        found.kernel.lengthscale, scale * expected.kernel.lengthscale, rtol=1e-3
    )
    assert found.kernel.variance == pytest.approx(unit**2 * expected.kernel.variance, rel=1e-3)
    assert found.mean.value == pytest.approx(7 + unit * np.mean(Y))


@pytest.mark.parametrize("prior", [Periodic(1.0, 1.0, 3.0), "rbf", GaussianProcess(RBF(2.0))])
def test_any_prior_will_do(prior):
    assert np.all(posterior_of(MLP((6,)), DATA, params=OURS, prior=prior).predict(NEW).std > 0)


def test_rows_can_be_added(reference):
    more = Data(NEW, np.zeros(len(NEW)))
    spread = [m.predict(NEW).epistemic_std for m in (condition_on(reference, more), reference)]
    assert np.all(spread[0] < spread[1])


@pytest.mark.parametrize("classes", [["no", "yes"], ["one", "three", "two"]])
def test_classifiers_are_given_their_own_likelihood(classes):
    labels = np.array(classes)[np.digitize(Y, [0] if len(classes) == 2 else [-0.5, 0.5])]
    network = MLPClassifier(
        hidden_layer_sizes=(8,),
        activation="tanh",
        solver="lbfgs",
        alpha=0.1,
        random_state=0,
        max_iter=9999,
    )
    network.fit(X, labels)
    posterior = posterior_of(network, Data(X, labels))
    found = posterior.predict(np.concatenate([X, 3 * X])).probabilities
    np.testing.assert_allclose(found.sum(axis=1), 1)
    claimed, theirs = found[: len(X)], network.predict_proba(X)
    assert np.mean(claimed.argmax(axis=1) == theirs.argmax(axis=1)) > 0.9
    assert np.mean(found[len(X) :].max(axis=1)) < np.mean(network.predict_proba(3 * X).max(axis=1))
    with pytest.raises(ValueError, match="labels that the classifier knows; got"):
        posterior_of(network, Data(X, np.full(len(X), "what")))


def test_several_outputs_have_their_own_noise():
    targets = np.stack([Y, X[:, 1] + 0.4 * np.random.default_rng(2).normal(size=len(Y))], axis=1)
    network = MLPRegressor(
        hidden_layer_sizes=(6,),
        activation="relu",
        solver="lbfgs",
        random_state=0,
        max_iter=9999,
        alpha=0.1,
    )
    posterior = posterior_of(network.fit(X, targets), Data(X, targets))
    np.testing.assert_allclose(posterior.predict(NEW).mean, network.predict(NEW), atol=1e-5)
    assert posterior.likelihood.noise[1] > 1.5 * posterior.likelihood.noise[0]


@pytest.mark.parametrize(
    ("network", "options", "words"),
    [
        (NETWORKS["linen"][0], {}, "expects the weights of a Linen"),
        (MLP((6,)), {}, "expects the weights of a MLP"),
        (MLP((6,)), {"params": OURS, "mean": "mode"}, 'mean="network" or "posterior"; got'),
        (MLP((6,), 2), {"params": (OURS[0], np.ones((7, 2)))}, "got one with 2"),
        (object(), {}, "as_network expects"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(network, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        posterior_of(network, DATA, **options)
