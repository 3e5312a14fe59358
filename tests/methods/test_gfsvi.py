import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.covariances import Diagonal, Full, Kronecker, LastLayer, LowRank
from gfsvi.functions import GaussianProcess, LinearizedNetwork
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.calibration import HeldOut
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.methods import GFSVI, EmpiricalBayes, ExactGP
from gfsvi.methods.gfsvi import Subsampling
from gfsvi.networks import MLP
from gfsvi.points import LowDiscrepancy
from gfsvi.training import Adam

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(30, 1))
DATA = Data(X, np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=30))
MODEL = Model(GaussianProcess(RBF(0.7)), Normal(0.1))
OTHER_KEY = jax.random.key(1)


def method(**changes) -> GFSVI:
    settings = {"network": MLP((10, 10)), "points": LowDiscrepancy(20, -2.0, 2.0)}
    return GFSVI(**{**settings, **changes})


def trained(**changes) -> GFSVI:
    """The method with a covariance that is trained."""
    training = Training(num_steps=60, evaluate_every=30)
    return method(**{"covariance": Kronecker(), "training": training, **changes})


@pytest.mark.parametrize(
    "family", [Diagonal(), Kronecker(), LowRank(3), LastLayer(), Full()], ids=lambda f: repr(f)[:9]
)
def test_every_family_learns_and_never_returns_nan(family, key):
    fit = trained(covariance=family)(MODEL, DATA, key=key)
    objective = fit.history.steps["objective"]
    assert np.all(np.isfinite(objective)) and objective[-1] > objective[0]
    predictive = fit.posterior.predict(X)
    assert np.mean((predictive.mean - DATA.y) ** 2) < 0.1
    assert np.all(predictive.epistemic_variance > 0)


def test_the_covariance_is_computed_unless_a_family_to_train_is_given(key):
    computed, steps = (m(MODEL, DATA, key=key) for m in (method(), trained()))
    assert isinstance(computed.posterior.function, ConjugateNetwork)
    assert isinstance(steps.posterior.function, LinearizedNetwork)
    assert len(steps.history.steps["objective"]) == 60


@pytest.mark.parametrize("make", [method, trained])
def test_the_same_key_gives_the_same_posterior(make, key):
    first, second = (make()(MODEL, DATA, key=key).posterior for _ in range(2))
    for one, other in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_key_changes_the_computed_posterior_little(key):
    """Another network and other points, but the same prior and data."""
    predictives = [method()(MODEL, DATA, key=k).posterior.predict(X) for k in (key, OTHER_KEY)]
    means, stds = (np.array([getattr(p, part) for p in predictives]) for part in ("mean", "std"))
    assert np.ptp(means, axis=0).max() > 0
    np.testing.assert_allclose(means[0], means[1], atol=0.02)
    np.testing.assert_allclose(stds[0], stds[1], atol=0.02)


def test_a_warm_start_goes_on_from_where_training_stopped(key):
    first = trained()(MODEL, DATA, key=key)
    second = trained()(MODEL, DATA, key=key, start=first.posterior)
    assert second.history.steps["objective"][0] > first.history.steps["objective"][0]


def test_a_posterior_is_computed_around_the_weights_it_starts_from(key):
    first = trained()(MODEL, DATA, key=key).posterior
    second = method()(MODEL, DATA, key=key, start=first)
    before, after = (jax.tree.leaves(m.function.params) for m in (first, second.posterior))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert second.history.steps == {}


@pytest.mark.parametrize(
    "options", [{"training": Training(num_steps=3)}, {"subsampling": Subsampling(2)}], ids=str
)
def test_a_training_of_a_covariance_that_is_computed_raises(options):
    with pytest.raises(ValueError, match=r"only for a covariance that is trained; got covariance"):
        GFSVI(**options)


def test_a_computed_covariance_needs_a_process_as_prior(key):
    posterior = trained()(MODEL, DATA, key=key).posterior
    with pytest.raises(ValueError, match="expects a Gaussian-process prior; got a Linearized"):
        method(mean=None)(posterior, DATA, key=key)


def test_away_from_the_data_the_prior_comes_back(key):
    grid = np.array([[-1.9], [0.0], [1.9]])
    fixed = {"points": LowDiscrepancy(40, -2.0, 2.0), "fixed": lambda model: model.likelihood}
    fitted = method(**fixed)(MODEL, DATA, key=key).posterior.predict(grid)
    exact = ExactGP(num_starts=0)(MODEL, DATA, key=key).posterior.predict(grid)
    np.testing.assert_allclose(fitted.epistemic_std, exact.epistemic_std, atol=0.01)
    np.testing.assert_allclose(fitted.mean, exact.mean, atol=0.02)
    assert fitted.epistemic_std[1] < 0.1 < 0.3 < min(fitted.epistemic_std[[0, 2]])


def test_far_from_every_point_nothing_is_known(key):
    far = np.array([[-30.0], [30.0]])
    posterior = method()(MODEL, DATA, key=key).posterior
    assert np.all(posterior.predict(far).epistemic_std >= 1.0)  # that of the prior


@pytest.mark.slow
def test_away_from_the_data_the_prior_comes_back_by_training_too(key):
    training = Training(num_steps=4000, evaluate_every=1000)
    grid = np.array([[-1.9], [0.0], [1.9]])
    points = LowDiscrepancy(40, -2.0, 2.0)
    fit = trained(network=MLP((30, 30)), training=training, points=points)(MODEL, DATA, key=key)
    fitted = fit.posterior.predict(grid)
    exact = ExactGP()(MODEL, DATA, key=key).posterior.predict(grid)
    np.testing.assert_allclose(fitted.epistemic_std, exact.epistemic_std, atol=0.05)
    assert fitted.epistemic_std[1] < 0.1 < 0.3 < min(fitted.epistemic_std[[0, 2]])


def test_noise_in_the_targets_unit_is_found_by_leaving_rows_out(key):
    """Ten times as large targets have ten times as much noise, and copies of rows no less."""
    scaled = Model(GaussianProcess(RBF(0.7, 100.0)), Normal(1.0))
    large = Data(X, 10 * DATA.y)
    copied = Data(np.concatenate([X, X]), np.concatenate([DATA.y, DATA.y]))
    weighted = Data(X, DATA.y, np.full(30, 2.0))
    runs = ((MODEL, DATA), (scaled, large), (MODEL, copied), (MODEL, weighted))
    found = [
        float(method(mean=None)(model, data, key=key).posterior.likelihood.noise[0])
        for model, data in runs
    ]
    assert found[0] == pytest.approx(0.1, rel=0.3)
    assert found[1] == pytest.approx(10 * found[0], rel=0.05)
    assert found[2] == pytest.approx(found[0], rel=0.05)
    assert found[3] == pytest.approx(found[2], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("make", [method, trained])
def test_sampled_functions_have_the_posterior_moments(make, key):
    posterior = make()(MODEL, DATA, key=key).posterior
    grid = np.linspace(-1, 1, 7)[:, None]
    keys = jax.random.split(key, 600)
    draws = np.stack([posterior.function.sample_function(key=k)(grid)[:, 0] for k in keys])
    predictive = posterior.predict(grid)
    error = predictive.epistemic_std / np.sqrt(600)
    assert np.all(np.abs(draws.mean(0) - predictive.mean) < 5 * error)
    np.testing.assert_allclose(draws.std(0), predictive.epistemic_std, rtol=0.2)


@pytest.mark.parametrize("make", [method, trained])
def test_validation_rows_set_the_noise_if_asked_to(make, key):
    rows = Data(X, DATA.y + 0.5 * np.where(np.arange(30) % 2, 1, -1))
    posterior = make(calibration=HeldOut())(MODEL, DATA, key=key, validation=rows).posterior
    values = posterior.function.marginals(X)
    wanted = np.sqrt(np.mean((rows.y - values.mean[0]) ** 2 + values.variance[0]))
    assert np.squeeze(posterior.likelihood.noise) == pytest.approx(wanted, rel=0.02)


def test_outputs_that_do_not_fit_raise(key):
    model = Model(GaussianProcess(RBF(), outputs=3), Categorical())
    labels = Data(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match="needs 3 function outputs.*network with 1"):
        method()(model, labels, key=key)


def test_validation_rows_do_not_touch_noise_that_was_found_by_leaving_rows_out(key):
    alone = method()(MODEL, DATA, key=key).posterior
    watched = method()(MODEL, DATA, key=key, validation=Data(X, DATA.y + 3)).posterior
    np.testing.assert_array_equal(alone.likelihood.noise, watched.likelihood.noise)


def test_a_float32_network_stays_float32_and_its_divergence_is_double(key):
    fit = trained(dtype=jnp.float32)(MODEL, DATA, key=key)
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(fit.posterior.function.params))
    assert fit.history.steps["divergence"].dtype == np.float64


def test_a_float32_network_stays_float32_in_a_computed_posterior_of_float64(key):
    function = method(dtype=jnp.float32)(MODEL, DATA, key=key).posterior.function
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(function.params))
    assert function.root.dtype == function.shift.dtype == function.whitener.dtype == np.float64


@pytest.mark.parametrize("make", [method, trained])
def test_nothing_needs_the_global_double_precision_setting(make, key):
    with jax.enable_x64(False):
        predictive = make()(MODEL, DATA, key=key).posterior.predict(X)
        assert predictive.mean.dtype == np.float64


def test_empirical_bayes_finds_the_length_scale_it_was_drawn_from(key):
    x = np.random.default_rng(1).uniform(-5, 5, size=(200, 1))
    truth = GaussianProcess(RBF(0.8, variance=2.0)).at(x)
    y = truth.sample(1, key=key)[0, 0] + 0.2 * np.random.default_rng(2).normal(size=200)
    fitted = EmpiricalBayes()(MODEL, Data(x, np.asarray(y)), key=key).posterior
    assert float(fitted.function.kernel.lengthscale) == pytest.approx(0.8, rel=0.25)
    assert float(fitted.likelihood.noise) == pytest.approx(0.2, rel=0.2)


def test_rows_that_stand_twice_do_not_deny_the_noise(key):
    x = np.random.default_rng(1).uniform(-5, 5, size=(60, 1))
    y = 0.5 * np.random.default_rng(2).normal(size=60)
    copied = Data(np.concatenate([x, x]), np.concatenate([y, y]))
    fits = [EmpiricalBayes(num_starts=1)(MODEL, d, key=key) for d in (Data(x, y), copied)]
    once, twice = (float(fit.posterior.likelihood.noise) for fit in fits)
    assert once == twice == pytest.approx(0.5, rel=0.3)


def test_more_rows_at_the_end_show_what_varies_quickly(key):
    x = np.random.default_rng(1).uniform(-20, 20, size=(200, 1))
    y = np.sin(2 * x[:, 0])
    few = Training(num_steps=60, optimizer=Adam(0.1, batch_size=15))
    many = Training(num_steps=60, optimizer=Adam(0.1, batch_size=200))
    start = Model(GaussianProcess(RBF(2.0)), Normal(0.3))
    noises = [
        float(fit(start, Data(x, y), key=key).posterior.likelihood.noise)
        for fit in (EmpiricalBayes(num_starts=1, training=few, last=last) for last in (None, many))
    ]
    assert noises[1] < 0.5 * noises[0]


def test_empirical_bayes_chooses_the_family_that_explains_the_data(key):
    from gfsvi.kernels import Linear, Matern12

    x = np.random.default_rng(1).uniform(-2, 2, size=(60, 1))
    y = 1.5 * x[:, 0] + 0.1 * np.random.default_rng(2).normal(size=60)
    start = Model(GaussianProcess(Matern12()), Normal(0.1))
    method = EmpiricalBayes(kernels=(Linear(),), num_starts=1)
    chosen = method(start, Data(x, y), key=key).posterior.function.kernel
    assert isinstance(chosen, Linear)


def test_empirical_bayes_fits_a_prior_on_logits_from_labels(key):
    x = np.random.default_rng(1).normal(size=(60, 2))
    labels = (x[:, 0] > 0).astype(int) + (x[:, 1] > 1).astype(int)
    model = Model(GaussianProcess(RBF(), outputs=3), Categorical())
    training = Training(num_steps=40, optimizer=Adam(0.1))
    fit = EmpiricalBayes(training=training)(model, Data(x, labels), key=key)
    objective = fit.history.steps["objective"]
    assert objective[-1] > objective[0]
    assert float(fit.posterior.function.kernel.lengthscale) != 1.0


def test_methods_refuse_priors_that_do_not_fit(key):
    posterior = method()(MODEL, DATA, key=key).posterior
    with pytest.raises(TypeError, match="prior over functions .* got ConjugateNetwork"):
        EmpiricalBayes()(posterior, DATA, key=key)
    with pytest.raises(TypeError, match="Normal or WarpedNormal.*use GFSVI"):
        ExactGP()(Model(GaussianProcess(RBF()), Categorical()), DATA, key=key)
