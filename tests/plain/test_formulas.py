"""What NumPy computes is what JAX computes, and derivatives are those of what they derive."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm, t

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess, LinearizedNetwork
from gfsvi.inference.evidence import log_evidence as jax_evidence
from gfsvi.inference.length_prior import LengthPrior
from gfsvi.inference.mean_objectives import MeanObjective
from gfsvi.inference.quick_mean import DELTA, Penalized
from gfsvi.inference.row_slopes import row_slopes
from gfsvi.inference.unknowns import JITTER, Unknowns, is_in_numpy
from gfsvi.kernels import RBF, Linear, Matern12, Matern32, Matern52
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.likelihoods import Bernoulli, Categorical, Normal, StudentT, WarpedNormal
from gfsvi.networks import MLP
from gfsvi.networks.in_numpy import network_in_numpy
from gfsvi.numerics.precision import double
from gfsvi.plain.networks import TanhNetwork, random_network, tangents
from gfsvi.plain.posterior import BLOCK, solve_lower
from gfsvi.predictives.warp import Warp

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(9, 3)), RANDOM.normal(size=(7, 3))
Z[2] = X[4]
KERNELS = [kind(np.array([0.7, 1.3, 2.0]), 1.7) for kind in (RBF, Matern12, Matern32, Matern52)]
by_name = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)


def slopes_of(function, vector, step=1e-6):
    """Derivatives by central differences."""
    return np.array(
        [
            (function(vector + step * e) - function(vector - step * e)) / (2 * step)
            for e in np.eye(len(vector))
        ]
    )


@by_name
@double
def test_kernels_are_those_of_the_library(kernel):
    plain = kernel_in_numpy(kernel)
    np.testing.assert_allclose(plain.cross(X, Z), kernel.cross(X, Z), rtol=1e-12)
    np.testing.assert_allclose(plain.gram(X), kernel.gram(X), rtol=1e-12)


@by_name
def test_slopes_of_correlations_are_their_derivatives(kernel):
    correlation = kernel_in_numpy(kernel).correlation
    squared = np.array([0.01, 0.5, 2.0, 9.0])
    found = np.diagonal(slopes_of(correlation.value, squared))
    np.testing.assert_allclose(correlation.slope(squared), found, rtol=1e-6)


def test_coinciding_points_have_no_slope_that_is_not_finite():
    for kernel in KERNELS:
        assert np.all(np.isfinite(kernel_in_numpy(kernel).correlation.slope(np.zeros(1))))


def test_other_kernels_and_networks_have_no_form_in_numpy():
    assert kernel_in_numpy(Linear()) is None and kernel_in_numpy(RBF() + RBF()) is None
    relu = MLP((4,), activation=jax.nn.relu)
    assert network_in_numpy(relu, relu.init(jnp.asarray(X), key=jax.random.key(0))) is None


@double
def network_and_weights(outputs=2):
    network = MLP((5, 4), outputs)
    params = network.init(jnp.asarray(X), key=jax.random.key(0), dtype=jnp.float64)
    return network, params, network_in_numpy(network, params)


@double
def test_the_network_and_its_tangent_kernel_are_those_of_the_library():
    network, params, plain = network_and_weights()
    f, layers = plain.linearized(X)
    np.testing.assert_allclose(f.T, network.apply(params, X), rtol=1e-12)
    variances = (0.5, 1.0, 2.0)
    found = tangents(variances, layers, plain.linearized(Z)[1])
    columns = [_derivatives(network, params, x) for x in (X, Z)]
    scaled = [
        [variance * leaf for variance, leaf in zip(variances, columns[0], strict=True)],
        columns[1],
    ]
    rows = [np.concatenate([leaf.reshape(2, len(leaf[0]), -1) for leaf in c], -1) for c in scaled]
    np.testing.assert_allclose(found, rows[0] @ rows[1].swapaxes(1, 2), rtol=1e-9)


def _derivatives(network, params, x):
    """Of every output at every row by every weight, (output, row, ...)."""
    jacobian = jax.jacobian(lambda p: network.apply(p, jnp.asarray(x)).T)(params)
    return [np.asarray(leaf) for leaf in jax.tree.leaves(jacobian)]


@double
def test_weights_are_learned_along_their_gradient():
    network, params, plain = network_and_weights()
    weights = RANDOM.normal(size=(len(X), 2))
    expected = jax.grad(lambda p: jnp.sum(weights * network.apply(p, jnp.asarray(X))))(params)
    found = plain.gradient(plain.activations(X), weights)
    for one, other in zip(found, jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_random_network_varies_over_the_lengths_that_are_given():
    drawn = [
        random_network(X, (50, 1), lengths, np.random.default_rng(1))
        for lengths in (np.ones(3), np.array([10.0, 1.0, 1.0]))
    ]
    ratio = drawn[1].matrices[0][:-1] / drawn[0].matrices[0][:-1]
    np.testing.assert_allclose(ratio, np.repeat([[0.1], [1.0], [1.0]], 50, axis=1))
    centres = np.linalg.norm(X @ drawn[0].matrices[0][:-1] + drawn[0].matrices[0][-1], axis=0)
    assert np.all(np.isfinite(centres)) and np.all(drawn[0].matrices[1][-1] == 0)
    # Every unit is zero at one of the inputs.
    inner = np.abs(X @ drawn[0].matrices[0][:-1] + drawn[0].matrices[0][-1])
    np.testing.assert_allclose(inner.min(axis=0), 0, atol=1e-12)


Y = RANDOM.normal(size=9)
TWO = RANDOM.normal(size=(9, 2))
MODELS = {
    "normal": (Normal(0.3), Y, 1),
    "two outputs": (Normal(np.array([0.3, 0.5])), TWO, 2),
    "one noise for two outputs": (Normal(0.3), TWO, 2),
    "warped": (WarpedNormal(np.array([0.3]), Warp.fitted(Y)), Y, 1),
    "two warps": (WarpedNormal(np.array([0.3, 0.4]), Warp.fitted(TWO)), TWO, 2),
    "labels": (Categorical(3), np.array([0, 1, 2, 0, 1, 2, 2, 0, 1]), 3),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kernel", [KERNELS[3], RBF(0.8, 1.2)], ids=["own", "common"])
@double
def test_the_evidence_and_its_gradient_are_those_of_the_library(name, kernel):
    likelihood, y, outputs = MODELS[name]
    model = Model(GaussianProcess(kernel, outputs=outputs), likelihood)
    assert is_in_numpy(model, X)
    unknowns = Unknowns(model, X, y)
    weighted = unknowns._replace(weights=np.linspace(0.2, 1.8, 9))
    vector = unknowns.start + 0.1 * np.sin(np.arange(len(unknowns.start)))
    value, _ = unknowns.loss(vector)
    expected = jax_evidence(unknowns.at(vector), Data(X, y)) / len(X)
    assert JITTER == 1e-8  # what the library's evidence adds
    np.testing.assert_allclose(-value, expected, rtol=1e-9)
    for one in (unknowns, weighted):
        found = slopes_of(lambda v, one=one: one.loss(v)[0], vector)
        np.testing.assert_allclose(one.loss(vector)[1], found, rtol=1e-5, atol=1e-7)
    by_library = jax_evidence(unknowns.at(vector), Data(X, y, weighted.weights)) / len(X)
    # Weights of mean one leave the factors of noise as they are, up to a constant.
    constant = -0.5 * outputs * np.mean(np.log(weighted.weights))
    np.testing.assert_allclose(-weighted.loss(vector)[0] + constant, by_library, rtol=1e-6)


@pytest.mark.parametrize("num_features", [1, 3, 50])
def test_length_scales_scatter_around_a_normal_centre_like_students_t(num_features):
    prior, logs = LengthPrior(), np.random.default_rng(1).normal(size=num_features)
    value, slope = prior.log_density(logs, num_features)
    spread = min(0.5, 1.5 / num_features**0.5)
    expected = t.logpdf(logs, 3, logs.mean(), spread).sum()
    expected += norm.logpdf(logs.mean(), 0.5 * np.log(num_features) + 0.5)
    constant = t.logpdf(0, 3, 0, spread) * num_features + norm.logpdf(0)
    assert value == pytest.approx(expected - constant)
    found = slopes_of(lambda v: prior.log_density(v, num_features)[0], logs)
    np.testing.assert_allclose(slope, found, rtol=1e-5, atol=1e-6)


def test_unknown_length_scales_have_their_prior_once():
    likelihood, y, _ = MODELS["warped"]
    unknowns = Unknowns(Model(GaussianProcess(KERNELS[0]), likelihood), X, y)
    with_prior = unknowns._replace(lengths=LengthPrior())
    vector = unknowns.start + 0.1
    gained = unknowns.loss(vector)[0] - with_prior.loss(vector)[0]
    assert gained == pytest.approx(LengthPrior().log_density(vector[:3], 3)[0] / len(X))
    found = slopes_of(lambda v: with_prior.loss(v)[0], vector)
    np.testing.assert_allclose(with_prior.loss(vector)[1], found, rtol=1e-5, atol=1e-7)


def test_vectors_of_unknowns_come_back_as_the_model():
    likelihood, y, _ = MODELS["warped"]
    unknowns = Unknowns(Model(GaussianProcess(KERNELS[0]), likelihood), X, y)
    back = unknowns.at(unknowns.start)
    for one, other in zip(jax.tree.leaves(back), jax.tree.leaves(unknowns.model), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_models_with_other_parameters_are_left_to_jax():
    for likelihood, kernel in ((StudentT(), RBF()), (Normal(), Linear())):
        assert not is_in_numpy(Model(GaussianProcess(kernel), likelihood), X)
    assert not is_in_numpy(Model(GaussianProcess(RBF()), Normal()), np.zeros((3, 2, 2)))


LIKELIHOODS = {
    **{name: MODELS[name] for name in ("normal", "two outputs", "warped", "labels")},
    "yes or no": (Bernoulli(), np.array([0, 1, 1, 0, 1, 0, 0, 1, 1]), 1),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 9)], ids=["even", "weighted"])
@double
def test_slopes_of_rows_are_derivatives_of_the_log_likelihood(name, weights):
    likelihood, y, outputs = LIKELIHOODS[name]
    data, f = Data(X, y, weights), RANDOM.normal(size=(9, outputs))
    slopes = row_slopes(likelihood, data, outputs)

    def total(f):
        return data.total(likelihood.log_prob(y, f.T))

    expected = jax.grad(total)(jnp.asarray(f))
    np.testing.assert_allclose(slopes(f)[1], expected, rtol=1e-9, atol=1e-12)
    change = slopes(f)[0] - slopes(0 * f)[0]
    np.testing.assert_allclose(change, total(f) - total(0 * f), rtol=1e-9)
    rows = np.array([5, 2])
    np.testing.assert_allclose(slopes.take(rows)(f[rows])[1], expected[rows], rtol=1e-9)


@double
def test_the_objective_of_the_quick_mean_is_that_of_the_trained_one():
    network, params, plain = network_and_weights(outputs=1)
    prior, likelihood = GaussianProcess(KERNELS[3]), Normal(0.3)
    points, data = np.concatenate([X[:4], Z]), Data(X, Y)
    points = np.unique(points, axis=0)
    objective = Penalized.of(prior, X, points, row_slopes(likelihood, data, 1))
    gamma = DELTA * 1.7 / len(points)
    trained = MeanObjective.of(prior, points, gamma, rows_lead=False)
    blank = LinearizedNetwork(network, None, params, None)

    def expected(params):
        function = LinearizedNetwork(network, None, params, None)
        return trained(Model(function, likelihood), data, 1.0, key=jax.random.key(0))[0]

    value, gradient = objective(plain)
    constant = -9 * np.log(0.3 * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(value + constant, expected(blank.params), rtol=1e-8)
    for one, other in zip(gradient, jax.grad(expected)(params), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_a_batch_of_rows_counts_for_all_of_them():
    _, _, plain = network_and_weights(outputs=1)
    slopes = row_slopes(Normal(0.3), Data(X, Y), 1)
    whole = Penalized.of(GaussianProcess(KERNELS[3]), X, Z, slopes)
    none = Penalized.of(GaussianProcess(KERNELS[3]), X[:0], Z, slopes.take(np.arange(0)))
    rows = np.arange(3)
    batch = none.with_rows(X[rows], slopes.take(rows), 3.0)
    fit = slopes(plain.activations(X)[-1])[0]
    of_batch = slopes.take(rows)(plain.activations(X[rows])[-1])[0]
    found = batch(TanhNetwork(plain.matrices))[0] - 3 * of_batch
    np.testing.assert_allclose(found, whole(plain)[0] - fit, rtol=1e-5)


@pytest.mark.parametrize("size", [1, BLOCK, BLOCK + 1, 300])
def test_a_triangular_system_is_solved_in_blocks(size):
    random = np.random.default_rng(0)
    factor = np.tril(random.normal(size=(size, size))) / size + np.eye(size)
    right = random.normal(size=(size, 3))
    np.testing.assert_allclose(factor @ solve_lower(factor, right), right, atol=1e-12)
