import jax
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.inference.calibration import NoCalibration
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Bernoulli, Categorical, Normal, Poisson
from gfsvi.methods import GWI, EmpiricalBayes, ExactGP, GPClassifier, SparseGP
from gfsvi.networks import MLP
from gfsvi.numerics.clustering import cluster_centres
from gfsvi.training import Adam

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(30, 1))
DATA = Data(X, np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=30))
MODEL = Model(GaussianProcess(RBF(0.7)), Normal(0.3))
SHORT = Training(num_steps=60, optimizer=Adam(1e-2), evaluate_every=20)
LONG = Training(num_steps=300, optimizer=Adam(2e-2), evaluate_every=20)
CLASSES = Data(X, np.digitize(X[:, 0], [-0.3, 0.3]))
THREE = Model(GaussianProcess(RBF(0.7), outputs=3), Categorical())
METHODS = [
    ExactGP(num_starts=2),
    SparseGP(num_inducing=10, training=SHORT),
    GWI(MLP((10,)), num_inducing=10, num_points=20, training=SHORT),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_every_method_learns_and_repeats_itself(method, key):
    fit = method(MODEL, DATA, key=key)
    objective = fit.history.steps["objective"]
    assert np.all(np.isfinite(objective)) and objective[-1] > objective[0]
    predictive = fit.posterior.predict(X)
    assert np.all(predictive.epistemic_variance > 0)
    again = method(MODEL, DATA, key=key).posterior.predict(X)
    np.testing.assert_array_equal(predictive.mean, again.mean)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_five_points_are_enough_without_global_double_precision(method, key):
    with jax.enable_x64(False):
        predictive = method(MODEL, DATA.take(np.arange(5)), key=key).posterior.predict(X)
        assert predictive.mean.dtype == np.float64 and np.all(np.isfinite(predictive.std))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_several_outputs_share_a_kernel(method, key):
    y = np.stack([DATA.y, -2 * DATA.y], axis=1)
    if isinstance(method, GWI):
        method = GWI(MLP((10,), outputs=2), training=SHORT)
    model = Model(GaussianProcess(RBF(0.7), outputs=2), Normal(0.3))
    predictive = method(model, Data(X, y), key=key).posterior.predict(X)
    assert predictive.mean.shape == predictive.std.shape == (30, 2)


@pytest.mark.parametrize("method", [ExactGP(), SparseGP(), GWI(), GPClassifier()])
def test_a_prior_over_weights_raises(method, key):
    model = Model(BayesianNetwork.prior(MLP((3,)), X), Normal())
    with pytest.raises(TypeError, match="needs a prior over functions.*got BayesianNetwork"):
        method(model, DATA, key=key)


def test_exact_inference_refuses_classes_in_words(key):
    with pytest.raises(TypeError, match="ExactGP needs Normal.*got Bernoulli.*GPClassifier"):
        ExactGP()(Model(GaussianProcess(RBF()), Bernoulli()), DATA, key=key)


def test_the_classifier_refuses_numbers_in_words(key):
    with pytest.raises(TypeError, match="GPClassifier needs Bernoulli.*got Normal.*ExactGP"):
        GPClassifier()(MODEL, DATA, key=key)


@pytest.mark.parametrize("method", [SparseGP(), GPClassifier(), GWI()])
def test_outputs_that_do_not_fit_raise(method, key):
    model = Model(GaussianProcess(RBF()), Categorical())
    with pytest.raises(ValueError, match="needs 3 function outputs.*got a prior with 1"):
        method(model, CLASSES, key=key)


@pytest.mark.parametrize("method", [SparseGP(), GPClassifier(), GWI()])
def test_labels_that_make_no_sense_raise(method, key):
    with pytest.raises(ValueError, match="Bernoulli expects labels 0 and 1"):
        method(Model(GaussianProcess(RBF()), Bernoulli()), CLASSES, key=key)


@pytest.mark.parametrize(
    "method",
    [
        GPClassifier(),
        SparseGP(num_inducing=10, training=SHORT),
        GWI(MLP((10,), outputs=3), num_inducing=10, num_points=20, training=LONG),
    ],
    ids=lambda m: type(m).__name__,
)
def test_classes_are_told_apart(method, key):
    predictive = method(THREE, CLASSES, key=key).posterior.predict(X)
    assert np.mean(np.argmax(predictive.probabilities, axis=1) == CLASSES.y) > 0.8


@pytest.mark.slow
def test_the_classifier_learns_from_five_labels_without_global_double_precision(key):
    with jax.enable_x64(False):
        labels = Data(X[:5], np.array([0, 1, 0, 1, 1]))
        model = Model(GaussianProcess(RBF()), Bernoulli())
        fit = GPClassifier(num_starts=2)(model, labels, key=key)
        assert np.all(np.isfinite(fit.posterior.predict(X).probabilities))


def test_counts_have_a_sparse_process_too(key):
    data = Data(X, np.random.default_rng(1).poisson(np.exp(1 + X[:, 0])))
    model = Model(GaussianProcess(RBF()), Poisson())
    fit = SparseGP(num_inducing=10, training=SHORT)(model, data, key=key)
    assert np.corrcoef(fit.posterior.predict(X).mean, X[:, 0])[0, 1] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SparseGP, GWI])
def test_training_stops_when_held_out_rows_no_longer_improve(kind, key):
    training = Training(num_steps=3000, optimizer=Adam(0.1), evaluate_every=5, patience=3)
    network = {"network": MLP((10,)), "num_points": 20} if kind is GWI else {}
    rows = Data(X, np.random.default_rng(1).normal(size=30))  # nothing to learn from
    method = kind(num_inducing=10, training=training, calibration=NoCalibration(), **network)
    fit = method(MODEL, rows, key=key, validation=DATA)
    assert len(fit.history.steps["objective"]) < 3000
    assert fit.history.best_step == fit.history.score_steps[np.argmax(fit.history.scores)]


@pytest.mark.parametrize("method", METHODS[1:], ids=lambda m: type(m).__name__)
def test_validation_rows_set_the_noise(method, key):
    rows = Data(X, DATA.y + 0.5 * np.where(np.arange(30) % 2, 1, -1))
    posterior = method(MODEL, DATA, key=key, validation=rows).posterior
    values = posterior.function.marginals(X)
    wanted = np.sqrt(np.mean((rows.y - values.mean[0]) ** 2 + values.variance[0]))
    assert float(posterior.likelihood.noise) == pytest.approx(wanted, rel=0.02)


def test_a_sparse_process_learns_its_kernel_and_noise(key):
    training = Training(num_steps=400, optimizer=Adam(3e-2), evaluate_every=100)
    posterior = SparseGP(training=training)(MODEL, DATA, key=key).posterior
    best = EmpiricalBayes()(MODEL, DATA, key=key).posterior
    assert float(posterior.likelihood.noise) == pytest.approx(float(best.likelihood.noise), rel=0.1)
    assert float(posterior.function.prior.kernel.lengthscale) != 0.7


def test_wasserstein_leaves_kernel_and_inducing_points_where_they_are(key):
    method = GWI(MLP((10,)), num_inducing=10, num_points=20, training=SHORT)
    posterior = method(MODEL, DATA, key=key).posterior
    assert float(posterior.function.spread.prior.kernel.lengthscale) == 0.7
    start = method.initial(MODEL, DATA, key=jax.random.split(key)[0])
    np.testing.assert_array_equal(
        posterior.function.spread.inducing, start.function.spread.inducing
    )
    assert float(posterior.likelihood.noise) != 0.3


def test_clusters_are_found_where_the_rows_are(key):
    middles = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    rows = (middles[:, None] + 0.1 * np.random.default_rng(0).normal(size=(3, 50, 2))).reshape(
        -1, 2
    )
    centres = cluster_centres(rows, 3, key=key)
    gaps = np.linalg.norm(centres[:, None] - middles, axis=-1)
    assert np.max(np.min(gaps, axis=0)) < 0.1


def test_there_are_no_more_clusters_than_distinct_rows(key):
    rows = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    np.testing.assert_array_equal(cluster_centres(rows, 10, key=key), np.arange(4.0)[:, None])
