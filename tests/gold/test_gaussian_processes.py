"""Our Gaussian processes against scikit-learn, GPJax and each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from gfsvi import Data, Model, Training
from gfsvi.functions import GaussianProcess, SparseProcess
from gfsvi.functions.means import Constant
from gfsvi.inference.elbo import Elbo
from gfsvi.inference.evidence import log_evidence
from gfsvi.kernels import RBF, Matern52
from gfsvi.likelihoods import Bernoulli, Categorical, Normal
from gfsvi.methods import ExactGP, GPClassifier, SparseGP
from gfsvi.methods.gp_classifier import laplace_evidence
from gfsvi.methods.sparse_gp import CoefficientDivergence, collapsed_bound
from gfsvi.training import Adam

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 2))
DATA = Data(X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * RANDOM.normal(size=40))
LABELS = Data(X, (X[:, 0] + 0.5 * RANDOM.normal(size=40) > 0).astype(int))
GRID = RANDOM.normal(size=(25, 2))
MODEL = Model(GaussianProcess(Matern52(np.array([1.0, 1.5]), variance=1.3)), Normal(0.25))
TWO_CLASSES = Model(GaussianProcess(RBF(0.9, variance=2.5)), Bernoulli())


def test_the_exact_process_is_scikit_learns_at_the_best_parameters(key):
    start = Model(GaussianProcess(RBF(np.ones(2))), Normal(0.3))
    fit = ExactGP(num_starts=4)(start, DATA, key=key)
    kernel = sk.ConstantKernel() * sk.RBF(np.ones(2)) + sk.WhiteKernel(0.09)
    peer = GaussianProcessRegressor(kernel).fit(X, DATA.y)
    evidence = fit.history.steps["objective"][-1] * len(DATA)
    assert evidence == pytest.approx(peer.log_marginal_likelihood_value_, abs=1e-6)
    mean, std = peer.predict(GRID, return_std=True)
    predictive = fit.posterior.predict(GRID)
    assert predictive.mean == pytest.approx(mean, abs=1e-4)  # as flat as the optimum is
    assert predictive.std == pytest.approx(std, abs=1e-4)


def test_the_exact_process_is_gpjaxs(key):
    gpjax = pytest.importorskip("gpjax")
    kernel = gpjax.kernels.Matern52(lengthscale=jnp.array([1.0, 1.5]), variance=1.3)
    prior = gpjax.gps.Prior(mean_function=gpjax.mean_functions.Zero(), kernel=kernel, jitter=1e-12)
    peer = prior * gpjax.likelihoods.Gaussian(obs_stddev=0.25)
    rows = gpjax.Dataset(jnp.asarray(X), jnp.asarray(DATA.y)[:, None])
    theirs = peer.condition(rows)(jnp.asarray(GRID))
    ours = ExactGP()(MODEL, DATA, key=key).posterior.predict(GRID)
    assert ours.mean == pytest.approx(np.ravel(theirs.mean), abs=1e-6)
    assert ours.epistemic_std == pytest.approx(np.sqrt(np.ravel(theirs.variance)), abs=1e-6)
    # Ours has 1e-8 more noise, which keeps the factor of repeated rows finite.
    noisier = prior * gpjax.likelihoods.Gaussian(obs_stddev=np.sqrt(0.25**2 + 1e-8))
    evidence = float(gpjax.objectives.conjugate_mll(noisier, rows))
    assert float(log_evidence(MODEL, DATA)) == pytest.approx(evidence, abs=1e-6)


@pytest.mark.slow
def test_more_starts_never_find_less(key):
    start = Model(GaussianProcess(RBF(30.0)), Normal(0.3))
    found = [
        ExactGP(num_starts=n)(start, DATA, key=key).history.steps["objective"][-1] for n in (1, 5)
    ]
    assert found[1] >= found[0]


def test_what_is_fixed_is_not_moved_by_any_start(key):
    method = ExactGP(num_starts=5, fixed=lambda model: model.likelihood)
    posterior = method(MODEL, DATA, key=key).posterior
    assert float(posterior.likelihood.noise) == 0.25
    assert float(posterior.function.prior.kernel.variance) != 1.3


def sparse(**changes) -> SparseGP:
    training = Training(num_steps=50, optimizer=Adam(1e-3), evaluate_every=50)
    return SparseGP(**{"training": training, "fixed": everything_but_the_coefficients, **changes})


def everything_but_the_coefficients(model: Model) -> list:
    return [model.function.prior, model.function.inducing, model.likelihood]


def test_a_sparse_process_with_every_row_inducing_is_the_exact_one(key):
    ours = sparse()(MODEL, DATA, key=key).posterior.predict(GRID)
    exact = ExactGP()(MODEL, DATA, key=key).posterior.predict(GRID)
    assert ours.mean == pytest.approx(exact.mean, abs=1e-3)
    assert ours.epistemic_std == pytest.approx(exact.epistemic_std, abs=1e-3)


@pytest.mark.slow
def test_a_sparse_process_finds_the_closed_form_without_being_told(key):
    inducing = X[:10]
    targets = MODEL.likelihood.gaussian_targets(DATA.y)
    best = SparseProcess.given(MODEL.function, inducing, X, targets.values, targets.variance)
    elbo = Elbo(CoefficientDivergence())

    @jax.jit
    def objective(parts):
        process = SparseProcess(MODEL.function, inducing, *parts)
        return elbo(Model(process, MODEL.likelihood), DATA, 1.0, key=key)[0]

    slopes = jax.grad(objective)((best.mean, best.raw_factor))
    assert max(float(jnp.max(jnp.abs(jnp.tril(slope)))) for slope in slopes) < 1e-8
    bound = collapsed_bound(MODEL, DATA, inducing)
    assert float(objective((best.mean, best.raw_factor))) == pytest.approx(float(bound), abs=1e-6)


def test_evidence_bounds_the_collapsed_bound_which_bounds_every_other(key):
    inducing = X[:10]
    bound = float(collapsed_bound(MODEL, DATA, inducing))
    assert bound < float(log_evidence(MODEL, DATA))
    process = SparseProcess.like(MODEL.function, inducing)
    value, _ = Elbo(CoefficientDivergence())(Model(process, MODEL.likelihood), DATA, 1.0, key=key)
    assert float(value) < bound


def test_a_sparse_process_with_coefficients_like_its_prior_is_its_prior():
    process, prior = SparseProcess.like(MODEL.function, X[:10]), MODEL.function
    assert float(process.divergence) == 0
    np.testing.assert_allclose(process.at(GRID).cov, prior.at(GRID).cov, atol=1e-12)


def test_marginals_of_a_sparse_process_are_the_diagonal_of_its_values():
    targets = MODEL.likelihood.gaussian_targets(DATA.y)
    process = SparseProcess.given(MODEL.function, X[:7], X, targets.values, targets.variance)
    marginals, values = process.marginals(GRID), process.at(GRID)
    np.testing.assert_allclose(marginals.mean, values.mean, atol=1e-12)
    np.testing.assert_allclose(marginals.variance, values.variance, atol=1e-12)


def test_the_laplace_classifier_is_scikit_learns(key):
    peer = GaussianProcessClassifier(
        sk.ConstantKernel(2.5) * sk.RBF(0.9), optimizer=None, max_iter_predict=500
    ).fit(X, LABELS.y)
    posterior = GPClassifier()(TWO_CLASSES, LABELS, key=key).posterior
    mean, variance = peer.base_estimator_.latent_mean_and_variance(GRID)
    values = posterior.function.marginals(GRID)
    # scikit-learn stops when its evidence moves by less than 1e-10
    np.testing.assert_allclose(values.mean[0], mean, atol=1e-5)
    np.testing.assert_allclose(values.variance[0], variance, atol=1e-5)
    probabilities = posterior.predict(GRID).probabilities
    np.testing.assert_allclose(probabilities, peer.predict_proba(GRID), atol=2e-3)
    evidence = float(laplace_evidence(TWO_CLASSES, LABELS))
    assert evidence == pytest.approx(peer.log_marginal_likelihood_value_, abs=1e-6)


def test_the_laplace_evidence_has_the_slope_of_finite_differences():
    @jax.jit
    def evidence(logs):
        kernel = RBF(jnp.exp(logs[0]), variance=jnp.exp(logs[1]))
        process = GaussianProcess(kernel, Constant(logs[2]))
        return laplace_evidence(Model(process, Bernoulli()), LABELS)

    at, step = np.array([-0.1, 0.9, 0.2]), 1e-5
    slope = jax.grad(evidence)(jnp.asarray(at))
    sides = [[evidence(at + s * step * row) for s in (1, -1)] for row in np.eye(3)]
    differences = [float(up - down) / (2 * step) for up, down in sides]
    np.testing.assert_allclose(slope, differences, rtol=1e-6)


def test_the_laplace_classifier_finds_scikit_learns_parameters(key):
    peer = GaussianProcessClassifier(
        sk.ConstantKernel(2.5) * sk.RBF(0.9), max_iter_predict=500
    ).fit(X, LABELS.y)
    fit = GPClassifier(num_starts=2)(TWO_CLASSES, LABELS, key=key)
    evidence = fit.history.steps["objective"][-1] * len(LABELS)
    assert evidence == pytest.approx(peer.log_marginal_likelihood_value_, abs=1e-4)


def test_two_classes_of_a_softmax_are_one_of_a_logistic(key):
    # The difference of two independent processes has twice the variance.
    softmax = Model(GaussianProcess(RBF(0.9, variance=1.25), outputs=2), Categorical())
    both = GPClassifier()(softmax, LABELS, key=key).posterior.function.marginals(X)
    one = GPClassifier()(TWO_CLASSES, LABELS, key=key).posterior.function.marginals(X)
    np.testing.assert_allclose(both.mean[1] - both.mean[0], one.mean[0], atol=1e-5)


def test_the_softmax_mode_is_where_prior_and_labels_pull_alike(key):
    labels = Data(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    model = Model(GaussianProcess(RBF(0.9, variance=2.0), outputs=3), Categorical())
    posterior = GPClassifier()(model, labels, key=key).posterior
    mean = posterior.function.marginals(X).mean
    pull = jax.grad(lambda f: jnp.sum(model.likelihood.log_prob(labels.y, f)))(mean)
    # At the mode f = K d log p(y | f) / df.
    np.testing.assert_allclose(mean, pull @ model.function.kernel.gram(X), atol=1e-5)
