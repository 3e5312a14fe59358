"""A row of weight three counts like the same row three times, in every sum over rows."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from gfsvi import Data, Model
from gfsvi.covariances import Diagonal, Full, LastLayer, RotatedDiagonal
from gfsvi.functions import BayesianNetwork, GaussianProcess, LinearizedNetwork
from gfsvi.inference import calibration, gauss_newton
from gfsvi.inference.calibration import HeldOut, LeaveOneOut, MostProbable
from gfsvi.inference.curvature import curvature
from gfsvi.inference.elbo import Elbo, validation_score
from gfsvi.inference.evidence import log_evidence
from gfsvi.inference.mean_objectives import MeanObjective, MovingMeanObjective, mean_score
from gfsvi.inference.point_estimate import LogPosterior, WeightPrior, random_members
from gfsvi.kernels import RBF
from gfsvi.likelihoods import (
    Bernoulli,
    Categorical,
    HeteroscedasticNormal,
    Normal,
    Poisson,
    StudentT,
    WarpedNormal,
)
from gfsvi.methods import VIP, ExactGP, GPClassifier, sparse_gp
from gfsvi.methods.gp_classifier import laplace_evidence
from gfsvi.methods.vip import AlphaEnergy, with_exact_coefficients
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double
from gfsvi.points import FixedPoints
from gfsvi.predictives.warp import Warp
from gfsvi.training.settings import Training

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(8, 2))
Y = np.sin(X[:, 0]) + 0.3 * RANDOM.normal(size=8)
TWO = np.stack([Y, X[:, 1] + 0.1 * RANDOM.normal(size=8)], axis=1)
COUNTS = RANDOM.poisson(3.0, 8)
LABELS = np.array([0, 1, 2, 1, 0, 2, 2, 1])
WEIGHTS = np.array([1.0, 2.0, 3.0, 1.0, 5.0, 1.0, 2.0, 4.0])
NEW = RANDOM.normal(size=(5, 2))
NORMAL, WARPED = Normal(0.3), WarpedNormal(0.3, Warp.fitted(Y, 0.5))
PROCESS = GaussianProcess(RBF(0.9, 1.5))
STRUCTURES = (Diagonal(), RotatedDiagonal(), LastLayer(), Full())


def both(y: np.ndarray) -> tuple[Data, Data]:
    """Rows with weights, and every row as often as its weight says."""
    repeated = np.repeat(np.arange(len(X)), WEIGHTS.astype(int))
    return Data(X, y, WEIGHTS), Data(X, y).take(repeated)


def assert_counted(value, y: np.ndarray = Y, *, rtol: float = 1e-10, atol: float = 1e-10) -> None:
    """The value for weighted rows is that for repeated rows, and another than without weights."""
    weighted, repeated = both(y)
    found, expected, alike = (
        np.asarray(ravel_pytree(value(data))[0]) for data in (weighted, repeated, Data(X, y))
    )
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
    assert np.max(np.abs(found - alike)) > 1e-3 * np.max(np.abs(expected))


def network_model(y: np.ndarray, likelihood=NORMAL) -> Model:
    """A linearised network, with a covariance, in double precision."""
    network, key = MLP((4,), likelihood.num_outputs(y)), jax.random.key(1)
    params = network.init(X, key=key, dtype=jnp.float64)
    covariance = Diagonal()
    state = jax.tree.map(
        lambda leaf: jnp.asarray(leaf, jnp.float64), covariance.init(params, key=key)
    )
    return Model(LinearizedNetwork(network, covariance, params, state), likelihood)


def ensemble_model(y: np.ndarray, likelihood=NORMAL) -> Model:
    """One network at its weights."""
    network, key = MLP((4,), likelihood.num_outputs(y)), jax.random.key(1)
    like = network.init(X, key=key, dtype=jnp.float64)
    return Model(random_members(network, like, jnp.asarray(X), 1, key=key), likelihood)


@pytest.mark.parametrize(
    ("likelihood", "y"),
    [
        (Normal(0.3), Y),
        (Normal(np.array([0.3, 0.5])), TWO),
        (WARPED, Y),
        (WarpedNormal(np.array([0.3, 0.5]), Warp.fitted(TWO, 0.5)), TWO),
        (StudentT(0.3), Y),
        (Poisson(), COUNTS),
        (HeteroscedasticNormal(0.3), Y),
    ],
)
@double
def test_the_evidence_counts_rows_by_their_weights(likelihood, y):
    process = GaussianProcess(RBF(0.9, 1.5), outputs=likelihood.num_outputs(y))
    assert_counted(lambda data: log_evidence(Model(process, likelihood), data), y)


@pytest.mark.parametrize("likelihood", [Normal(0.3), WARPED], ids=lambda one: type(one).__name__)
@double
def test_an_exact_posterior_counts_rows_by_their_weights(likelihood, key):
    def values(data):
        function = ExactGP()(Model(PROCESS, likelihood), data, key=key).posterior.function
        at = function.at(jnp.asarray(NEW))
        return at.mean, at.cov

    assert_counted(values, rtol=1e-8, atol=1e-8)


@double
def test_a_weighted_row_is_left_out_with_all_its_copies(key):
    prior, (weighted, _) = Model(PROCESS, Normal(0.3)), both(Y)
    left_out = LeaveOneOut.of(prior, prior, weighted)
    for row in range(len(X)):
        others = np.delete(np.arange(len(X)), row)
        repeated = Data(X, Y).take(np.repeat(others, WEIGHTS[others].astype(int)))
        there = ExactGP()(prior, repeated, key=key).posterior.function.at(jnp.asarray(X[[row]]))
        np.testing.assert_allclose(left_out.values.mean[0, row], there.mean[0, 0], atol=1e-8)
        np.testing.assert_allclose(left_out.values.variance[0, row], there.cov[0, 0, 0], atol=1e-8)


@double
def test_rows_that_were_left_out_keep_their_weights():
    prior, (weighted, _) = Model(PROCESS, Normal(0.3)), both(Y)
    rows = Data(NEW, np.zeros(len(NEW)))
    joined, _ = LeaveOneOut.of(prior, prior, weighted).added_to(rows, PROCESS.marginals(NEW))
    np.testing.assert_array_equal(joined.weights, [*np.ones(len(NEW)), *WEIGHTS])


class Nothing(eqx.Module):
    """No divergence at all."""

    def __call__(self, model, batch, scale, *, key):
        return jnp.zeros(()), {}


@pytest.mark.parametrize(
    ("likelihood", "y"),
    [
        (Normal(0.3), Y),
        (WARPED, Y),
        (StudentT(0.3), Y),
        (Poisson(), COUNTS),
        (Categorical(), LABELS),
        (Bernoulli(), LABELS > 0),
    ],
)
@double
def test_the_elbo_counts_rows_by_their_weights(likelihood, y, key):
    model = network_model(y, likelihood)
    assert_counted(lambda data: Elbo(Nothing())(model, data, 1.0, key=key)[0], y)


@pytest.mark.parametrize("score", [validation_score, mean_score])
@double
def test_scores_are_weighted_means(score):
    assert_counted(lambda data: score(network_model(Y), data))


@pytest.mark.parametrize("objective", ["fixed", "moving"])
@double
def test_objectives_of_the_mean_count_rows_by_their_weights(objective, key):
    model = network_model(Y)
    if objective == "fixed":
        chosen = MeanObjective.of(PROCESS, jnp.asarray(NEW), 1e-6, rows_lead=False)
    else:
        chosen = MovingMeanObjective(PROCESS, FixedPoints(NEW), 1e-6)
    assert_counted(lambda data: chosen(model, data, 1.0, key=key)[0])


@double
def test_the_log_posterior_counts_rows_by_their_weights(key):
    model = ensemble_model(Y)
    prior = BayesianNetwork.prior(model.function.network, X)
    objective = LogPosterior(WeightPrior.of(prior))
    assert_counted(lambda data: objective(model, data, 1.0, key=key)[0])


def features(key) -> Model:
    """Functions drawn from a network, as VIP has them before training."""
    prior = Model(BayesianNetwork.prior(MLP((4,)), X), Normal(0.3))
    return VIP(num_features=3, training=Training(num_steps=0))(prior, Data(X, Y), key=key).posterior


@double
def test_energies_count_rows_by_their_weights(key):
    model = features(key)
    assert_counted(lambda data: AlphaEnergy(0.5)(model, data, 1.0, key=key)[0])


@double
def test_exact_coefficients_count_rows_by_their_weights(key):
    model = features(key)
    assert_counted(lambda data: with_exact_coefficients(model, data).function.coefficients)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(("likelihood", "y"), [(Normal(0.3), Y), (Categorical(), LABELS)])
@double
def test_curvature_counts_rows_by_their_weights(structure, likelihood, y):
    model = ensemble_model(y, likelihood)
    if isinstance(structure, RotatedDiagonal):  # axes may turn into their opposite
        assert_counted(lambda data: curvature(structure, model, data).along_axes, y)
    else:
        assert_counted(lambda data: curvature(structure, model, data), y)


@double
def test_the_gauss_newton_cost_counts_rows_by_their_weights():
    model = network_model(Y)

    def cost(data):
        problem = gauss_newton._Problem.of(model, PROCESS, data, jnp.asarray(NEW), 1e-6)
        return problem.cost(model.function.params)

    assert_counted(cost)


@pytest.mark.parametrize(("likelihood", "y"), [(Normal(0.3), Y), (Poisson(), COUNTS)])
@double
def test_a_gauss_newton_step_counts_rows_by_their_weights(likelihood, y):
    model = network_model(y, likelihood)

    def normal_equations(data):
        problem = gauss_newton._Problem.of(model, PROCESS, data, jnp.asarray(NEW), 1e-6)
        rows, targets = problem.least_squares(model.function.params)
        return rows.T @ rows, rows.T @ targets

    assert_counted(normal_equations, y)


@pytest.mark.parametrize(
    ("likelihood", "y"), [(Bernoulli(), (LABELS > 0).astype(int)), (Categorical(), LABELS)]
)
@double
def test_the_mode_of_a_classifier_counts_rows_by_their_weights(likelihood, y, key):
    process = GaussianProcess(RBF(0.9, 1.5), outputs=likelihood.num_outputs(y))

    def values(data):
        function = GPClassifier()(Model(process, likelihood), data, key=key).posterior.function
        at = function.at(jnp.asarray(NEW))
        return at.mean, at.cov

    assert_counted(values, y, rtol=1e-5, atol=1e-6)


@double
def test_the_evidence_of_a_classifier_counts_rows_by_their_weights():
    y = (LABELS > 0).astype(int)
    weighted, repeated = (
        laplace_evidence(Model(PROCESS, Bernoulli()), jax.tree.map(jnp.asarray, data))
        for data in both(y)
    )
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


@double
def test_a_sparse_process_starts_from_rows_counted_by_their_weights():
    model = Model(PROCESS, Normal(0.3))

    def start(data):
        function = sparse_gp._closed_form_start(model, data, jnp.asarray(NEW)).function
        at = function.at(jnp.asarray(X))
        return at.mean, at.cov

    assert_counted(start, rtol=1e-8, atol=1e-8)


@double
def test_the_collapsed_bound_counts_rows_by_their_weights():
    model = Model(PROCESS, Normal(0.3))
    assert_counted(lambda data: sparse_gp.collapsed_bound(model, data, jnp.asarray(NEW)))


@double
def test_what_calibration_maximises_counts_rows_by_their_weights(key):
    model = Model(PROCESS, Normal(0.3))

    def value(data):
        objective = calibration._Calibration(PROCESS.marginals(jnp.asarray(data.x)))
        return objective(model, data, 1.0, key=key)[0]

    assert_counted(value)


@pytest.mark.parametrize("way", [HeldOut(), MostProbable()], ids=lambda one: type(one).__name__)
def test_calibrated_noise_counts_held_out_rows_by_their_weights(way, key):
    model = Model(GaussianProcess(RBF(0.9, 0.1)), Normal(0.3))

    def noise(data):
        found = way(model, data, key=key, prior=model, data=data)
        return jnp.asarray(found.likelihood.noise)

    assert_counted(noise, rtol=1e-3)
