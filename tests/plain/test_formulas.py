"""What NumPy computes is what JAX computes, and derivatives are those of what they derive."""

import equinox as eqx
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
from gfsvi.kernels import (
    RBF,
    Constant,
    IntegratedBrownian,
    Linear,
    LocallyPeriodic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    White,
)
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.likelihoods import (
    Bernoulli,
    Categorical,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    WarpedNormal,
)
from gfsvi.networks import MLP
from gfsvi.networks.in_numpy import network_in_numpy
from gfsvi.numerics.precision import double
from gfsvi.plain.networks import TanhNetwork, first_moving, random_network, tangents
from gfsvi.plain.posterior import BLOCK, solve_lower
from gfsvi.predictives.warp import Warp

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(9, 3)), RANDOM.normal(size=(7, 3))
Z[2] = X[4]
KERNELS = [kind(np.array([0.7, 1.3, 2.0]), 1.7) for kind in (RBF, Matern12, Matern32, Matern52)]
by_name = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
OTHERS = {
    "one length scale": RBF(0.8, 1.2),
    "constant": Constant(0.7),
    "linear": Linear(np.array([0.5, 1.5, 2.0])),
    "one variance": Linear(0.6),
    "integrated": IntegratedBrownian(np.array([0.5, 1.5, 2.0])),
    "integrated, one variance": IntegratedBrownian(0.7),
    "periodic": Periodic(np.array([0.7, 1.3, 2.0]), 1.7, np.array([1.1, 2.3, 3.1])),
    "periodic, one period": Periodic(0.9, 1.7, 2.3),
    "locally periodic": LocallyPeriodic(2.0, 0.7, 1.1, 0.9),
    "sum": Linear(0.6).on(2) + LocallyPeriodic(2.0, 0.7, 1.1, 0.9).on(0) + RBF(np.ones(2)).on(0, 1),
    "product": RBF(0.8, 1.2).on(1) * Periodic(0.9, 1.7, 2.3) * Matern12(2.0).on(0),
}
ALL = {**{type(kernel).__name__: kernel for kernel in KERNELS}, **OTHERS}


def slopes_of(function, vector, step=1e-6):
    """Derivatives by central differences."""
    return np.array(
        [
            (function(vector + step * e) - function(vector - step * e)) / (2 * step)
            for e in np.eye(len(vector))
        ]
    )


@pytest.mark.parametrize("name", ALL)
@double
def test_kernels_are_those_of_the_library(name):
    kernel, plain = ALL[name], kernel_in_numpy(ALL[name])
    np.testing.assert_allclose(plain.cross(X, Z), kernel.cross(X, Z), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(plain.gram(X), kernel.gram(X), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(plain.diagonal(X), kernel.diagonal(X), rtol=1e-12)


@pytest.mark.parametrize("name", ALL)
@double
def test_slopes_of_kernels_are_derivatives_by_the_logarithms_of_parameters(name):
    leaves, structure = jax.tree.flatten(ALL[name])
    weights = RANDOM.normal(size=(9, 9))
    weights += weights.T

    def total(logarithms):
        kernel = jax.tree.unflatten(structure, [jnp.exp(leaf) for leaf in logarithms])
        return jnp.sum(weights * kernel.cross(X, X))

    expected = jax.grad(total)([jnp.log(leaf) for leaf in leaves])
    gram, pull = kernel_in_numpy(ALL[name]).with_slopes(X)
    np.testing.assert_allclose(gram, ALL[name].gram(X), rtol=1e-11, atol=1e-14)
    for found, slope in zip(pull(weights), expected, strict=True):
        assert np.size(found) == np.size(slope)
        np.testing.assert_allclose(np.ravel(found), np.ravel(slope), rtol=1e-8, atol=1e-10)


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
    for kernel in (White(), RBF() + White(), RBF() * White(), White().on(0)):
        assert kernel_in_numpy(kernel) is None
    for kernel in (RBF("3 weeks"), RBF().on("date"), Linear() + Periodic(period="1 year")):
        assert kernel_in_numpy(kernel) is None  # only a table knows its dates
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


def test_outputs_are_alike_if_only_their_own_weights_move():
    _, _, plain = network_and_weights()
    variances = (1e-87, 1e-87, 2.0)
    first = first_moving(variances)
    assert (first, first_moving((0.5, 1.0, 2.0))) == (2, 0)
    found = tangents(variances, plain.linearized(X, first)[1], plain.linearized(Z, first)[1])
    whole = tangents(variances, plain.linearized(X)[1], plain.linearized(Z)[1])
    assert found.shape == (1, 9, 7) and whole.shape == (2, 9, 7)
    np.testing.assert_allclose(np.broadcast_to(found, whole.shape), whole, rtol=1e-12)


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
COUNTS = np.array([0.0, 3.0, 1.0, 0.0, 12.0, 2.0, 5.0, 0.0, 1.0])
MODELS = {
    "normal": (Normal(0.3), Y, 1),
    "two outputs": (Normal(np.array([0.3, 0.5])), TWO, 2),
    "one noise for two outputs": (Normal(0.3), TWO, 2),
    "warped": (WarpedNormal(np.array([0.3]), Warp.fitted(Y)), Y, 1),
    "two warps": (WarpedNormal(np.array([0.3, 0.4]), Warp.fitted(TWO)), TWO, 2),
    "labels": (Categorical(3), np.array([0, 1, 2, 0, 1, 2, 2, 0, 1]), 3),
    "counts": (NegativeBinomial(np.array([0.7])), COUNTS, 1),
    "two counts": (NegativeBinomial(np.array([0.7, 0.2])), np.stack([COUNTS, COUNTS[::-1]], 1), 2),
    "events": (Poisson(), COUNTS, 1),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "kernel", [KERNELS[3], RBF(0.8, 1.2), OTHERS["sum"]], ids=["own", "common", "sum"]
)
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
    # Weights of mean one leave the factors of noise as they are where all rows have the same.
    targets = unknowns.at(vector).likelihood.gaussian_targets(y, outputs)
    variance = np.broadcast_to(targets.variance, (outputs, 9))
    factors = (1 - weighted.weights) * np.log(2 * np.pi * variance) - np.log(weighted.weights)
    constant = 0.5 * np.sum(factors) / len(X)
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


def test_parameters_that_are_known_are_not_learned():
    season = LocallyPeriodic(2.0, 0.7, 1.1, 0.9)
    known = eqx.tree_at(lambda kernel: kernel.period, season, 1.1)  # a Python number is known
    models = [Model(GaussianProcess(kernel), Normal(0.3)) for kernel in (season, known)]
    free, held = (Unknowns(model, X, Y) for model in models)
    assert len(held.start) == len(free.start) - 1
    np.testing.assert_allclose(held.loss(held.start)[0], free.loss(free.start)[0], rtol=1e-12)
    slopes = np.delete(free.loss(free.start)[1], 2)
    np.testing.assert_allclose(held.loss(held.start)[1], slopes, rtol=1e-9)
    moved = held.at(held.start + 0.1).function.kernel
    assert isinstance(moved.period, float) and moved.period == 1.1


def test_models_with_other_parameters_are_left_to_jax():
    for likelihood, kernel in ((StudentT(), RBF()), (Normal(), White())):
        assert not is_in_numpy(Model(GaussianProcess(kernel), likelihood), X)
    assert not is_in_numpy(Model(GaussianProcess(RBF()), Normal()), np.zeros((3, 2, 2)))


LIKELIHOODS = {
    **{name: MODELS[name] for name in MODELS},
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
